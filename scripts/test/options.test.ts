import { describe, expect, it } from 'vitest'
import { startOptions } from '../system/options.ts'

describe('the options of npm start', () => {
  const DEFAULTS = {
    port: 8000,
    workers: undefined,
    workerVariables: [],
    auth: false,
    dataDir: undefined,
    demo: true,
    open: false,
    singleProcess: false,
    help: false,
  }

  it('no options: port 8000, no auth, the demonstration, workers depending on authentication', () => {
    expect(startOptions([])).toEqual(DEFAULTS)
  })

  it('both spellings of an option: accepted', () => {
    const options = startOptions(['--port', '9000', '--workers=3', '--no-demo', '--single-process'])
    const given = { port: 9000, workers: 3, demo: false, singleProcess: true }
    expect(options).toEqual({ ...DEFAULTS, ...given })
  })

  it.each([
    ['--port', '65536'],
    ['--port', '-1'],
    ['--port', ''],
    ['--workers', '1.5'],
    ['--workers', '33'],
    ['--workers', 'two'],
  ])('%s %s: refused', (name, value) => {
    expect(() => startOptions([`${name}=${value}`])).toThrow(`${name} must be a whole number`)
  })

  it('a variable for workers that is a setting of the server: refused', () => {
    expect(startOptions(['--worker-env', 'A', '--worker-env=B']).workerVariables).toEqual([
      'A',
      'B',
    ])
    expect(() => startOptions(['--worker-env', 'svc_rpc__secret'])).toThrow('svc_rpc__secret')
  })

  it('an unknown option: refused', () => {
    expect(() => startOptions(['--prot', '1'])).toThrow('--prot')
  })
})
