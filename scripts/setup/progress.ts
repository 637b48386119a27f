import { stopSignal } from '../process/signals.ts'

const FRAME_MS = 100
const STILL_MS = 5_000
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** Shows the current activity of a step. */
export type Report = (text: string) => void

interface Step {
  title: string
  began: number
  doing: string
}

/**
 * Shows steps, one line each, also concurrent ones. On a terminal the running steps share one updated
 * line with their times; a plain log gets a line every five seconds while a step lasts.
 */
export class Progress {
  #active = new Set<Step>()
  #out: NodeJS.WriteStream
  #timer: NodeJS.Timeout | undefined
  #tty: boolean

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.#out = out
    this.#tty = out.isTTY === true && process.env.CI === undefined
  }

  /** Runs `work(report)` under a title and returns its result; `report(text)` shows the current activity. */
  async step<T>(title: string, work: (report: Report) => Promise<T>): Promise<T> {
    const step: Step = { title, began: Date.now(), doing: '' }
    this.#begin(step)
    let mark = '✗'
    try {
      const result = await work((text) => {
        step.doing = text.trim()
      })
      mark = '✓'
      return result
    } finally {
      this.#active.delete(step)
      if (this.#active.size === 0) clearInterval(this.#timer)
      const interrupted = mark === '✗' && stopSignal.aborted
      if (!interrupted) this.note(`${mark} ${title}  ${seconds(step)}`)
    }
  }

  /** Writes one line. */
  note(text: string): void {
    this.#out.write(this.#tty ? `\r\x1b[K${text}\n` : `${text}\n`)
  }

  #begin(step: Step): void {
    if (this.#active.size === 0) {
      const show = this.#tty ? () => this.#frame() : () => this.#still()
      this.#timer = setInterval(show, this.#tty ? FRAME_MS : STILL_MS)
    }
    this.#active.add(step)
  }

  #frame() {
    const spinner = FRAMES[Math.floor(Date.now() / FRAME_MS) % FRAMES.length]
    const steps = [...this.#active].map((step) => `${step.title} ${seconds(step)}`)
    const doing = [...this.#active].at(-1)?.doing
    const text = `${spinner} ${steps.join(' · ')}  ${doing}`
    this.#out.write(`\r\x1b[K${text.slice(0, (this.#out.columns ?? 80) - 1)}`)
  }

  #still() {
    for (const step of this.#active) this.note(`  ${step.title}, ${seconds(step)} … ${step.doing}`)
  }
}

function seconds({ began }: Step): string {
  return `${((Date.now() - began) / 1000).toFixed(1)} s`
}
