import { expect, test } from 'vitest'
import { analyseSource } from '../test/analysis-fixture.ts'

const SOURCE = `from __future__ import annotations
import windlass as w
from shop import get
from dataclasses import dataclass, field
from pydantic import BaseModel, Field
from windlass import ExecutionContext, ResourceRequest, cron, task

ZONES = {"zone": "eu", **{"gpu": True}}

class Line(BaseModel, extra="forbid"):
    sku: str = Field(min_length=1, alias="SKU")
    parent: Line | None = None

@dataclass
class Order:
    """An order."""
    lines: list["Line"] = field(default_factory=list)
    note: str = f"a{1}b"

@task.with_options(name="fetch_{x}", secret_requests=["KEY"])
async def fetch(x, *, y=(1, 2)):
    try:
        return await get(f"{x!r:>{y}}")
    except (ValueError, OSError) as e:
        raise RuntimeError("no") from e

@w.workflow.with_options(
    name="main", namespace="shop", affinity=ZONES, schedule=cron("0 5 * * *"),
    requests=ResourceRequest(memory="4Gi", packages=["numpy>=1.0"]),
)
async def main(ctx: ExecutionContext[Order]):
    """Runs it."""
    for i in range(10):
        if i % 2 == 0:
            continue
    return [await fetch(i) for i in ctx.input["lines"]]
`
const ODD =
  '( ) [ ] { } : , = " \' \\ # @ * . % | \n \t ... ** await async None x:int 🚀 \r \f'.split(' ')

/** Pseudo-random numbers, the same in every run. */
function* random(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    yield state / 0x80000000
  }
}

const read = (source: string) => analyseSource(source)

test('unchanged source: analysed without notes', () => {
  const [workflow] = read(SOURCE)
  expect(workflow).toMatchObject({ namespace: 'shop', name: 'main' })
  expect(JSON.parse(workflow?.metadata_json ?? '').schema_notes).toBeUndefined()
})

test('mutated source: analysed or refused, never another error', () => {
  const numbers = random(7)
  const below = (most: number) => Math.floor(numbers.next().value * most)
  let refused = 0
  for (let round = 0; round < 500; round++) {
    let source = SOURCE
    for (let changes = 1 + below(3); changes > 0; changes--) {
      const at = below(source.length)
      const [kept, odd] = [source.slice(at + below(6)), ODD[below(ODD.length)] ?? '']
      source = source.slice(0, at) + (below(2) ? odd : '') + kept
    }
    try {
      read(source)
    } catch (error) {
      expect(error, source).toMatchObject({ kind: 'invalid' })
      refused++
    }
  }
  expect(refused).toBeGreaterThan(250)
  expect(refused).toBeLessThan(500)
})

test('line ends, byte order mark, blank lines: same result', () => {
  const plain = read(SOURCE)
  expect(read(`\ufeff${SOURCE}`)).toEqual(plain)
  expect(read(SOURCE.replaceAll('\n', '\r\n'))).toEqual(plain)
  expect(read(SOURCE.replaceAll('\n', '\r'))).toEqual(plain)
  expect(read(`\n\n# -*- coding: utf-8 -*-\n${SOURCE}\n  \n`)).toEqual(plain)
})
