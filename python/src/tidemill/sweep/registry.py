"""The kinds of sweeps, by the names that files call them."""

from .ber import Ber
from .chains import Simulations, Strategies
from .kinds import Kind
from .policies import Policies
from .program import Program

KINDS: dict[str, Kind] = {kind.name: kind for kind in (Ber(), Strategies(), Simulations(), Policies(), Program())}
