const FRAME_MS = 100
const STILL_MS = 10_000
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/**
 * Shows steps, one line each. A terminal gets one living line with the time and the last word of
 * the work; a plain log gets a line when a step ends and one every ten seconds while it lasts.
 */
export class Progress {
  #out
  #tty

  constructor(out = process.stderr) {
    this.#out = out
    this.#tty = out.isTTY === true && process.env.CI === undefined
  }

  /** Runs `work(tell)` under a title, where `tell(text)` says what it is at; passes its result on. */
  async step(title, work) {
    const began = Date.now()
    let doing = ''
    const tick = this.#tty
      ? () => this.#frame(title, began, doing)
      : () => this.#still(title, began, doing)
    const timer = setInterval(tick, this.#tty ? FRAME_MS : STILL_MS)
    try {
      const result = await work((text) => {
        doing = text.trim()
      })
      this.#line(`✓ ${title}  ${seconds(began)}`)
      return result
    } catch (error) {
      this.#line(`✗ ${title}  ${seconds(began)}`)
      throw error
    } finally {
      clearInterval(timer)
    }
  }

  /** A line of its own between steps. */
  note(text) {
    this.#line(text)
  }

  #line(text) {
    this.#out.write(this.#tty ? `\r\x1b[K${text}\n` : `${text}\n`)
  }

  #frame(title, began, doing) {
    const spinner = FRAMES[Math.floor((Date.now() - began) / FRAME_MS) % FRAMES.length]
    const text = `${spinner} ${title}  ${seconds(began)}  ${doing}`
    this.#out.write(`\r\x1b[K${text.slice(0, (this.#out.columns ?? 80) - 1)}`)
  }

  #still(title, began, doing) {
    this.#out.write(`  ${title}: still at it after ${seconds(began)}${doing && `: ${doing}`}\n`)
  }
}

function seconds(began) {
  return `${((Date.now() - began) / 1000).toFixed(1)} s`
}
