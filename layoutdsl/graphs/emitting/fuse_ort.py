"""What follows a convolution on blocks and is done by it: activations, a sum, channels scaled.

Source: onnxruntime 1.32, contrib_ops/cpu/fused_activation.cc and nchwc_ops.cc.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from layoutdsl.graphs.emitting.emit_ort import DOMAIN
from layoutdsl.graphs.emitting.physical import Call, Emission, Emitted, Step
from layoutdsl.graphs.graph import Array, Attribute

CONV = f"{DOMAIN}::Conv"

PLAIN = frozenset({"Relu", "Sigmoid", "Tanh", "HardSwish"})
"""Activations without numbers, those of onnxruntime 1.32."""

LOWEST, HIGHEST = float(np.finfo(np.float32).min), float(np.finfo(np.float32).max)


def fused(emission: Emission) -> Emission:
    """Return the same with what follows convolutions done by them, where nobody else reads it."""
    return _Fusing(emission).result()


class _Fusing:
    """Steps that are left, in their places; a convolution moves to what it is fused with."""

    def __init__(self, emission: Emission) -> None:
        self.emission = emission
        self.constants = emission.constants.copy()
        self.steps = [(part.of, step) for part in emission.parts for step in part.work]
        self.left: dict[int, Step | Call] = dict(enumerate(step for _, step in self.steps))
        self.along: dict[int, tuple[int | str, ...]] = {}
        self.zeros: dict[int, str] = {}
        inputs = (each for _, step in self.steps for each in step.inputs)
        self.uses = Counter(each for each in inputs if isinstance(each, str))
        self.uses.update(emission.outputs)
        self.made = {
            name: k for k, (_, step) in enumerate(self.steps) for name in step.outputs if name
        }

    def result(self) -> Emission:
        """Return what is left when all is fused that can be."""
        for number, (_, step) in enumerate(self.steps):
            if isinstance(step, Step):
                found = self._summed(step) or self._activated(step) or self._scaled(step)
                if found is not None:
                    self._merge(found[0], number, found[1])
        gone = {of for several in self.along.values() for of in several if isinstance(of, int)}
        parts = list[Emitted]()
        start = 0
        for part in self.emission.parts:
            numbers = [k for k in range(start, start + len(part.work)) if k in self.left]
            start += len(part.work)
            more = tuple(of for k in numbers for of in self.along.get(k, ()) if isinstance(of, int))
            work = tuple(self.left[k] for k in numbers)
            if work:
                of = part.of
                if isinstance(of, int) and of in gone:  # what it was fused with counts for it
                    of = self.emission.tensors[work[-1].outputs[0]].value
                parts.append(Emitted(of, work, more))
        return self._without_unused(tuple(parts))

    def _merge(self, before: int, now: int, step: Step) -> None:
        """Put a convolution in the place of what it does besides."""
        del self.left[before]
        self.left[now] = step
        self.along[now] = (*self.along.pop(before, ()), self.steps[before][0])

    def _without_unused(self, parts: tuple[Emitted, ...]) -> Emission:
        used = {str(each) for part in parts for step in part.work for each in step.inputs}
        made = {name for part in parts for step in part.work for name in step.outputs}
        ends = {*self.emission.outputs, *self.emission.inputs}
        constants = self.constants.only(used | ends)
        known = {*made, *ends, *constants}
        tensors = {name: each for name, each in self.emission.tensors.items() if name in known}
        return replace(self.emission, parts=parts, tensors=tensors, constants=constants)

    def _convolution(self, name: object) -> tuple[int, Step] | None:
        """The convolution that makes a tensor for one reader, before any activation."""
        number = self.made.get(name) if isinstance(name, str) else None
        step = None if number is None else self.left.get(number)
        if number is None or not isinstance(step, Step) or step.operator != CONV:
            return None
        if self.uses[step.outputs[0]] != 1 or "activation" in step.attributes:
            return None
        return number, step

    def _summed(self, step: Step) -> tuple[int, Step] | None:
        tensors = self.emission.tensors
        for one, other in (step.inputs[::-1], step.inputs) if step.operator == "Add" else ():
            found = self._convolution(one)
            if found is None or not isinstance(other, str) or other in self.constants:
                continue
            number, conv = found
            own, more = tensors[conv.outputs[0]], tensors[other]
            alike = own.extents == more.extents == tensors[step.outputs[0]].extents
            if alike and own.held.placing == more.held.placing and len(conv.inputs) < 4:
                bias = () if len(conv.inputs) == 3 else (self._no_bias(own.extents[1]),)
                inputs = (*conv.inputs, *bias, other)
                return number, Step(CONV, inputs, step.outputs, conv.attributes)
        return None

    def _no_bias(self, count: int) -> str:
        """Zeros: a bias that is left out is refused where there is a sum."""
        if count not in self.zeros:
            self.zeros[count] = self._constant(f"zeros@{count}", np.zeros(count, np.float32))
        return self.zeros[count]

    def _constant(self, name: str, array: Array) -> str:
        """Add a constant by a name that no tensor has."""
        name = self._unused(name)
        self.constants[name] = array
        return name

    def _unused(self, name: str) -> str:
        while name in self.emission.tensors or name in self.made or name in self.constants:
            name += "@"
        return name

    def _activated(self, step: Step) -> tuple[int, Step] | None:
        said = self._activation(step)
        found = self._convolution(step.inputs[0]) if said is not None else None
        if said is None or found is None:
            return None
        number, conv = found
        return number, Step(CONV, conv.inputs, step.outputs, {**conv.attributes, **said})

    def _activation(self, step: Step) -> dict[str, Attribute] | None:
        """What a convolution is told of an operator that follows it."""
        match step.operator:
            case word if word in PLAIN:
                return {"activation": word}
            case "LeakyRelu":
                return _said(step, ("alpha", 0.01))
            case "HardSigmoid":
                return _said(step, ("alpha", 0.2), ("beta", 0.5))
            case "Clip":
                low, high = self._bound(step, 1, LOWEST), self._bound(step, 2, HIGHEST)
                if low is None or high is None:
                    return None
                return {"activation": "Clip", "activation_params": (low, high)}
            case _:
                return None

    def _bound(self, step: Step, number: int, otherwise: float) -> float | None:
        name = step.inputs[number] if number < len(step.inputs) else ""
        if name == "":
            return otherwise
        found = self.constants.get(name) if isinstance(name, str) else None
        return None if found is None or found.size != 1 else float(found.reshape(-1)[0])

    def _scaled(self, step: Step) -> tuple[int, Step] | None:
        """A number for each channel, known beforehand, is in the weights and the bias before it."""
        if not step.scales:
            return None
        found = self._convolution(step.inputs[0])
        if found is None or len(found[1].inputs) > 3 or "activation" in step.attributes:
            return None
        number, conv = found
        weights, known = str(conv.inputs[1]), len(conv.inputs) > 2
        bias = self.constants.get(str(conv.inputs[2])) if known else None
        factor = self.constants[str(step.inputs[1])].reshape(-1)
        if weights not in self.constants or (bias is None and known):
            return None
        shift = self.constants[str(step.inputs[2])] if len(step.inputs) > 2 else np.float32(0)
        start = np.zeros_like(factor) if bias is None else bias
        scaled = self._unused(f"{step.outputs[0]}@factor@w")
        self.constants.scale(scaled, weights, factor, self.emission.block)
        moved = (start * factor + shift).astype(np.float32)
        names = (scaled, self._constant(f"{step.outputs[0]}@shift@b", moved))
        return number, Step(CONV, (conv.inputs[0], *names), step.outputs, conv.attributes)


def _said(step: Step, *numbers: tuple[str, float]) -> dict[str, Attribute]:
    found = tuple(step.attributes.get(name, otherwise) for name, otherwise in numbers)
    floats = tuple(each for each in found if isinstance(each, float))
    return {"activation": step.operator, "activation_params": floats}
