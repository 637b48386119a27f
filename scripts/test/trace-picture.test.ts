import { expect, test } from 'vitest'
import { type PictureSpan, tracePicture } from '../trace-picture.ts'

const span = (id: string, parent_id: string, start_ms: number, end_ms: number): PictureSpan => ({
  id,
  parent_id,
  service: id === 'a' ? 'gateway' : 'worker',
  name: `span <${id}>`,
  start_ms,
  end_ms,
  failed: id === 'c',
})

test('a trace: children below their parents, by their start, and a long gap is left out and named', () => {
  const svg = tracePicture(
    [span('c', 'a', 1_010, 1_020), span('b', 'a', 2, 5), span('a', 'client', 0, 10)],
    100,
  )
  expect([...svg.matchAll(/>span &lt;(\w)&gt;</g)].map(([, id]) => id)).toEqual(['a', 'b', 'c'])
  expect(svg).toContain('900 ms left out')
  expect(svg.match(/stroke="#c00000"/g)).toHaveLength(1)
  const bars = [...svg.matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)" height="12"/g)]
  const [a = 0, b = 0, c = 0] = bars.map(([, x]) => Number(x))
  expect([a < b, b < c, c < 920]).toEqual([true, true, true])
})
