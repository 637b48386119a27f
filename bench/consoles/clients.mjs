// The consoles of the benchmark, in a process of their own: browsers run on other machines. Messages of the parent:
// `{ open, url, screens }` opens consoles, `{ close }` closes all; each is answered with the counts so far.
import { openConsole } from './console.mjs'

const counts = { requests: 0, frames: 0, repeated: 0 }
let closes = []

const answers = {
  async open({ open, url, screens }) {
    const opening = Array.from({ length: open }, (_, i) =>
      openConsole(url, screens[i % screens.length], counts),
    )
    closes = await Promise.all(opening)
  },
  async count() {},
  async close() {
    for (const close of closes.splice(0)) close()
  },
}

process.on('message', async (message) => {
  try {
    await answers[message.kind](message)
    process.send({ counts })
  } catch (error) {
    process.send({ error: error.stack })
  }
})
process.on('disconnect', () => process.exit())
