export const NEW_YORK = 'America/New_York'
const LORD_HOWE = 'Australia/Lord_Howe'

const at = (time: string) => new Date(`2026-${time}Z`)

/** The golden table: ticks of a schedule between two times. */
export const DAYLIGHT_CASES = [
  {
    name: 'fixed time in a gap: fires once right after it',
    expression: '30 2 * * *',
    timezone: NEW_YORK,
    from: at('03-07T08:00'),
    to: at('03-09T12:00'),
    fires: ['03-08T07:00', '03-09T06:30'].map(at),
  },
  {
    name: 'list of fixed times in a gap: fires once right after it',
    expression: '30 2,14 * * *',
    timezone: NEW_YORK,
    from: at('03-08T05:00'),
    to: at('03-09T12:00'),
    fires: ['03-08T07:00', '03-08T18:30', '03-09T06:30'].map(at),
  },
  {
    name: 'wildcard hour in a gap: follows elapsed time',
    expression: '0 * * * *',
    timezone: NEW_YORK,
    from: at('03-08T05:30'),
    to: at('03-08T08:30'),
    fires: ['03-08T06:00', '03-08T07:00', '03-08T08:00'].map(at),
  },
  {
    name: 'fixed time in a fold: fires once, at the first occurrence',
    expression: '30 1 * * *',
    timezone: NEW_YORK,
    from: at('10-31T06:00'),
    to: at('11-02T12:00'),
    fires: ['11-01T05:30', '11-02T06:30'].map(at),
  },
  {
    name: 'wildcard in a fold: follows elapsed time',
    expression: '*/30 * * * *',
    timezone: NEW_YORK,
    from: at('11-01T04:45'),
    to: at('11-01T07:15'),
    fires: ['11-01T05:00', '11-01T05:30', '11-01T06:00', '11-01T06:30', '11-01T07:00'].map(at),
  },
  {
    name: 'midnight in a gap',
    expression: '0 0 * * *',
    timezone: 'Africa/Cairo',
    from: at('04-22T00:00'),
    to: at('04-25T00:00'),
    fires: ['04-22T22:00', '04-23T22:00', '04-24T21:00'].map(at),
  },
  {
    name: 'fold of half an hour',
    expression: '45 1 * * *',
    timezone: LORD_HOWE,
    from: at('04-03T00:00'),
    to: at('04-06T00:00'),
    fires: ['04-03T14:45', '04-04T14:45', '04-05T15:15'].map(at),
  },
  {
    name: 'gap of half an hour',
    expression: '15 2 * * *',
    timezone: LORD_HOWE,
    from: at('10-02T00:00'),
    to: at('10-05T00:00'),
    fires: ['10-02T15:45', '10-03T15:30', '10-04T15:15'].map(at),
  },
  {
    name: 'day of month or day of week',
    expression: '0 0 13 * 5',
    timezone: 'UTC',
    from: at('01-01T00:00'),
    to: at('01-17T00:00'),
    fires: ['01-02T00:00', '01-09T00:00', '01-13T00:00', '01-16T00:00'].map(at),
  },
  {
    name: '9:00 in New York',
    expression: '0 9 * * *',
    timezone: NEW_YORK,
    from: at('01-01T00:00'),
    to: at('01-03T00:00'),
    fires: ['01-01T14:00', '01-02T14:00'].map(at),
  },
]
