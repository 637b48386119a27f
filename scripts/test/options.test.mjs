import { describe, expect, it } from 'vitest'
import { startOptions } from '../lib/options.mjs'

describe('the options of npm start', () => {
  it('default to port 8000, one worker and the demonstration', () => {
    expect(startOptions([])).toEqual({ port: 8000, workers: 1, demo: true, help: false })
  })

  it('are read in both spellings', () => {
    const options = startOptions(['--port', '9000', '--workers=3', '--no-demo'])
    expect(options).toEqual({ port: 9000, workers: 3, demo: false, help: false })
  })

  it.each([
    ['--port', '65536'],
    ['--port', '-1'],
    ['--port', ''],
    ['--workers', '1.5'],
    ['--workers', '33'],
    ['--workers', 'two'],
  ])('refuse %s %s', (name, value) => {
    expect(() => startOptions([`${name}=${value}`])).toThrow(`${name} must be a whole number`)
  })

  it('refuse what they do not know', () => {
    expect(() => startOptions(['--prot', '1'])).toThrow('--prot')
  })
})
