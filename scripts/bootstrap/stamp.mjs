// @ts-check
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Records the inputs of a build step: the contents of files and some facts. It is stored inside the
 * output, so both are removed together.
 */
export class Stamp {
  #file
  #value

  /**
   * @param {string} file
   * @param {{ files?: string[], facts?: unknown[] }} inputs
   */
  constructor(file, { files = [], facts = [] }) {
    this.#file = file
    const hash = createHash('sha256').update(JSON.stringify(facts))
    for (const source of files) hash.update(readOr(source, '')).update('\0')
    this.#value = hash.digest('hex')
  }

  matches() {
    return readOr(this.#file, '') === this.#value
  }

  set() {
    mkdirSync(path.dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, this.#value)
  }
}

/**
 * @param {string} file
 * @param {string} otherwise
 */
function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
