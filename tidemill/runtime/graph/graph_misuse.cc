// In no target: graph_misuse_test.sh compiles it and wants an error for every line that says what the
// compiler should complain about, and for no other.

#include <string>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/graph/testbench.hpp"
#include "tidemill/runtime/graph/window.hpp"

using namespace tidemill;

namespace {

struct Ints : Module {
    Out<int> y = out<int>("y");
    Task make = task("make", &Ints::fill);
    void fill(Frame f) { f[y][0] = 1; }
};

struct Floats : Module {
    In<float> x = in<float>("x");
    Out<float> y = out<float>("y");
    Task work = task("work", &Floats::copy);
    void copy(Frame f) { f[y][0] = f[x][0]; }
};

}  // namespace

void bindings(Graph& graph, Ints& ints, Floats& floats, Floats& more) {
    graph.bind(floats.y, more.x);
    graph.bind(ints.y, floats.x);                       // error: types differ; insert a task that converts
    graph.bind(more.x, floats.x);                       // error: data comes from an output or a forward
    graph.bind(floats.y, more.y);                       // error: data goes to an input or a forward
    graph.bind(OutUpTo<double>{}, InUpTo<float>{});     // error: types differ; insert a task that converts
    graph.bind(std::vector<float>{1}, floats.y);        // error: bind() takes an output, or a vector of
    graph.bind(std::vector<std::string>(1), floats.x);  // error: bind() takes an output, or a vector of
    graph.bind(std::vector<float>{1}, floats["x"]);
    graph.bind(1.0f, floats.x);    // error: bind() takes an output, or a vector of
    graph.bind(floats, more);      // error: bind() takes an output, or a vector of
    graph.bind(floats.y, "x");     // error: bind() takes an output, or a vector of
    graph.stream(floats.y, more);  // error: stream() takes an output and an input
}

struct WritesItsInput : Module {
    In<float> x = in<float>("x");
    Task work = task("work", &WritesItsInput::run);
    void run(Frame f) {
        f[x][0] = 1;  // error: assignment of read-only location
    }
};

struct ReturnsANumber : Module {
    In<float> x = in<float>("x");
    Task work = task("work", &ReturnsANumber::run);  // error: a task returns Flow or nothing
    int run(Frame) { return 1; }
};

struct TakesASpan : Module {
    In<float> x = in<float>("x");
    Task work = task("work", &TakesASpan::run);  // error: a task's member function takes a Frame, or a Batch
    void run(std::span<const float>) {}
};

struct TasksOfOtherThings : Module {
    In<float> x = in<float>("x");
    Task none = task("none");                  // error: a member function, words
    Task first = task("first", [](Frame) {});  // error: a member function, words
    Task second =
        task("second", &TasksOfOtherThings::run, TaskOptions{}, 1);  // error: a member function, words
    Task third =
        task("third", &TasksOfOtherThings::run, tidemill::in<int>("x"));  // error: a member function, words
    void run(Frame) {}
};

struct OrElseOfAnotherType : Module {
    In<float> x = in<float>("x", or_else(1));  // error: values of the input's own type
    In<float> y = in<float>("y", 2, or_else(1.0f));
    In<float> z = in<float>("z", upto(2), or_else(1.0f));  // error: could not convert
    Task work = task("work", &OrElseOfAnotherType::run);
    void run(Frame) {}
};

struct CarriesStrings : Module {
    Out<std::string> y = out<std::string>("y");  // error: a socket's bytes are copied and recycled
    Task work = task("work", &CarriesStrings::run);
    void run(Frame) {}
};

struct NotConst : Module {
    Forward<float> x = forward<float>("x");
    Task work = task("work", &NotConst::run, pure);  // error: a pure task can be called through const
    void run(Frame) {}
};

struct TwoWords : Module {
    Forward<float> x = forward<float>("x");
    Task work = task("work", &TwoWords::run, pure, cloned);  // error: say one of them
    void run(Frame) const {}
};

struct CarriesPointers : Module {
    Out<const float*> y = out<const float*>("y");                      // error: a socket carries data
    Out<std::span<const float>> z = out<std::span<const float>>("z");  // error: a socket carries data
    Task work = task("work", &CarriesPointers::run);
    void run(Frame) {}
};

void words(Graph& graph) {
    const auto keeps = [n = 0](auto x) mutable { x[0] = n++; };
    const auto takes_one = [](std::span<int>) {};
    graph.add(task("x", forward<int>("x"), keeps));
    graph.add(task("x", cloned, forward<int>("x"), keeps));
    graph.add(task("x", pure, forward<int>("x"), keeps));                    // error: without mutable
    graph.add(task("x", cloned, sequential, forward<int>("x"), takes_one));  // error: say one of them
    graph.add(task("x", in<int>("x"), takes_one));                           // error: a span per socket
    graph.add(task("x", out<int>("x"), out<int>("y"), takes_one));           // error: a span per socket
}

struct Follows : Module {
    InAny<float> x = in<float>("x", any);
    OutAny<float> y = out<float>("y", as("x"));
    InAny<float> z = in<float>("z", any, or_else('1'));  // error: values of the input's own type
    Task work = task("work", &Follows::run);
    void run(Frame f) {
        f[y][0] = f[x][0];
        f[x][0] = 1;  // error: assignment of read-only location
    }
};

void counts(Graph& graph, Floats& floats, Follows& follows) {
    graph.bind(floats.y, follows.x);
    graph.bind(follows.y, floats.x);
    graph.bind(follows.y, InAny<double>{});    // error: types differ; insert a task that converts
    graph.bind(InAny<char>{}, InAny<char>{});  // error: data comes from an output or a forward
    peek(graph, follows.y, floats.x);          // error: what peeks sees as many elements as it declares
}

void chains(Graph& graph, Floats& floats) {
    const std::string nothing;
    graph.chain(floats, nothing, floats);        // error: chain() takes modules, and parts
    graph.chain(floats, floats.y, "x", floats);  // error: chain() takes modules, and parts
}

void tasks(Graph& graph) {
    const auto nothing = [](auto) {};
    const char* wrong = "x";
    graph.add(task("x", in<int>("x")));                 // error: words, sockets and a function, in this order
    graph.add(task("x", nothing, in<int>("x")));        // error: words, sockets and a function, in this order
    graph.add(task("x", in<int>("x"), pure, nothing));  // error: words, sockets and a function, in this order
    graph.add(
        task("x", in<int>("x"), wrong, nothing));  // error: words, sockets and a function, in this order
    graph.add(task("x", in<int>("x"), [](auto x) { return x[0]; }));  // error: a task returns Flow or nothing
    graph.add(task("x", in<float>("x", 2, or_else(1.0)), nothing));   // error: values of the input's own type
    graph.add(nothing);                                               // error: add() takes a task(...)
    graph.add();                                                      // error: add() takes a task(...)
    graph.add(in<int>("x"), nothing);                                 // error: add() takes a task(...)
}

struct Totals : Module {
    In<int> x = in<int>("x");
    Task work = task("work", &Totals::run, cloned);
    void run(Frame) {}
    void merge(Module&) override {}
};

struct Abstract : Module {
    virtual int number() const = 0;
};

struct OfTwo : Module {
    OfTwo(int, std::string) {}
};

void modules(Graph& graph) {
    const Ints outside;
    graph.add<OfTwo>(1, "two");
    graph.add<OfTwo>("two", 1);  // error: no constructor of M takes these Arguments
    graph.add<OfTwo>();          // error: no constructor of M takes these Arguments
    graph.add<OfTwo>(named("left"), 1, "two");
    graph.add<OfTwo>(named("left"), 1);  // error: no constructor of M takes these Arguments
    graph.add<Abstract>();               // error: this module is abstract
    graph.add<std::string>();            // error: derive M from Module
    Testbench<OfTwo>{1, 2};              // error: no constructor of M takes these Arguments
    graph.add<Ints>(outside);            // error: a copied module's sockets name the original
    graph.add<Totals>();                 // error: merge() and reset_counters() go together
}

void benches(Testbench<Floats>& b) {
    b.feed(b->x, {1});
    b.feed(b->y, {1});  // error: an output is read, not fed
    b.read(b->x);       // error: an input is fed, not read
}
