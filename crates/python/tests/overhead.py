"""What Python adds to a step, in processor time: python crates/python/tests/overhead.py"""

import time

import supple

STEPS = 60


def milliseconds(call):
    start = time.process_time()
    for step in range(STEPS):
        call(step)
    return 1000 * (time.process_time() - start) / STEPS


hero = supple.load("@male")
jump = hero.clip("jump")
body = supple.SoftBody(hero)
rounds = []
for _ in range(3):
    body.reset(jump.sample(0))
    sample = milliseconds(lambda step: jump.sample((step + 1) / 60))
    advance = milliseconds(lambda step: body.advance(jump.sample((step + 1) / 60), 1 / 60))
    body.vertices
    array = milliseconds(lambda step: body.vertices)
    rounds.append((sample, advance, array))
for name, times in zip(["sample", "advance with its sample", "array of vertices that did not move"], zip(*rounds)):
    print(f"{name}: {min(times):.3f} ms")
