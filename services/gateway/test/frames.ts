import { expect } from 'vitest'

export interface Frame {
  id: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they expect.
  data: any
}

/** Yields the frames of an event stream without comments; throws on a frame that is not three lines. */
export async function* framesOf(response: Response): AsyncGenerator<Frame, void> {
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) if (!block.startsWith(':')) yield parse(block)
  }
}

export async function allFrames(response: Response): Promise<Frame[]> {
  const frames: Frame[] = []
  for await (const frame of framesOf(response)) frames.push(frame)
  return frames
}

function parse(block: string): Frame {
  const [, id = '', event = '', data = ''] =
    /^id: (\d+)\nevent: (\w+)\ndata: ([^\n\r\u0085\u2028]*)$/.exec(block) ?? []
  expect(data, block).not.toBe('')
  return { id, event, data: JSON.parse(data) }
}
