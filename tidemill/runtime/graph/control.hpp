#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/runtime/graph/module.hpp"

namespace tidemill {

/// Opens one of several exclusive paths per frame, and joins them again.
///
/// data -> commute -> out_of_path[control] -> ... -> into_path[control] -> select -> joined. The control
/// value is data, computed by any task. Only the tasks of the open path run.
template <class T>
class Switch final : public Module {
  public:
    /// `paths` paths for `count` elements.
    Switch(std::string name, std::uint8_t paths, std::size_t count = 1)
        : Module(std::move(name)), data(in<T>("data", count)), control(in<std::uint8_t>("control")) {
        for (int p = 0; p < paths; ++p) out_of_path.push_back(out<T>("out" + std::to_string(p), count));
        control_task("commute", internal::ControlKind::switch_commute);
        for (int p = 0; p < paths; ++p) into_path.push_back(in<T>("in" + std::to_string(p), count));
        joined = out<T>("joined", count);
        control_task("select", internal::ControlKind::switch_select);
    }

    In<T> data;
    In<std::uint8_t> control;         ///< which path opens, from 0
    std::vector<Out<T>> out_of_path;  ///< `data`, on the path that is open
    std::vector<In<T>> into_path;     ///< the ends of the paths
    Out<T> joined{};                  ///< what came out of the path that was open
};

/// Repeats tasks until a control value says that it is done.
///
/// Every turn: select gives `turn` (the `first` value, later what came back through `next`); tasks compute
/// `control` and `data` from it; commute sends `data` to `body` for another turn when control is not 0, and
/// to `done` when it is. Tasks between `turn` and commute run at least once (do-while: all work there, and
/// `body` bound straight to `next`); tasks between `body` and `next` run once less (while).
template <class T>
class Loop final : public Module {
  public:
    /// A loop that carries `count` elements from turn to turn.
    explicit Loop(std::string name, std::size_t count = 1)
        : Module(std::move(name)),
          first(in<T>("first", count)),
          next(late_in<T>("next", count)),
          turn(out<T>("turn", count)),
          select_(control_task("select", internal::ControlKind::loop_select)),
          data(in<T>("data", count)),
          control(in<std::uint8_t>("control")),
          done(out<T>("done", count)),
          body(out<T>("body", count)),
          commute_(control_task("commute", internal::ControlKind::loop_commute)) {}

    In<T> first;  ///< the value of the first turn
    In<T> next;   ///< the value of the next turn, made from `body`
    Out<T> turn;  ///< the value of this turn

  private:
    Task select_;

  public:
    In<T> data;
    In<std::uint8_t> control;  ///< 0: leave the loop; otherwise one more turn
    Out<T> done;               ///< `data` of the last turn
    Out<T> body;               ///< `data` of the others

  private:
    Task commute_;
};

}  // namespace tidemill
