export const hourly = { type: 'interval', interval_seconds: 3_600 }
export const cron = (cron_expression: unknown) => ({ type: 'cron', cron_expression })
export const every = (interval_seconds: unknown) => ({ type: 'interval', interval_seconds })
export const once = (run_time: unknown, more = {}) => ({ type: 'once', run_time, ...more })

/** Invalid configurations, each with the member that the 422 names. */
export const INVALID_CONFIGS: [member: string, config: object][] = [
  ['cron_expression', cron('* * * * * * *')],
  ['cron_expression', cron('60 * * * *')],
  ['cron_expression', cron('* * 30 2 *')],
  ['cron_expression', cron('0 0 30 2 *')],
  ['cron_expression', cron('0 0 31 2,4,6,9,11 *')],
  ['cron_expression', cron('*/0 * * * *')],
  ['cron_expression', cron('*/999999999999 * * * *')],
  ['cron_expression', cron('1-99999999 * * * *')],
  ['cron_expression', cron('@reboot')],
  ['cron_expression', cron('L')],
  ['cron_expression', cron('٣ * * * *')],
  ['cron_expression', cron('0 0 * * *\n0')],
  ['cron_expression', cron('')],
  ['cron_expression', cron(5)],
  ['timezone', { ...cron('* * * * *'), timezone: 'Mars/Olympus' }],
  ['timezone', { ...cron('* * * * *'), timezone: 'local' }],
  ['interval_seconds', every(0)],
  ['interval_seconds', every(-1)],
  ['interval_seconds', every(0.001)],
  ['interval_seconds', every(1e18)],
  ['interval_seconds', every(null)],
  ['interval_seconds', every('5')],
  ['run_time', once('2020-01-01T00:00:00Z')],
  ['run_time', once('10000-01-01T00:00:00Z')],
  ['run_time', once('+010000-01-01T00:00:00Z')],
  ['run_time', once('Infinity')],
  ['run_time', once('2030-02-30T00:00:00Z')],
  ['overlap', { ...hourly, overlap: 'sometimes' }],
  ['type', { type: 'lunar' }],
  ['weekly', { ...hourly, weekly: true }],
]
