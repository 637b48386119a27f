import { expect, test } from 'vitest'
import { optionsFixture } from '../../test/options-fixture.ts'

const HEAD = `from windlass import workflow, task, cron, interval, once; from windlass.domain.schedule import CronSchedule, IntervalSchedule, OnceSchedule
from windlass.routing import score, prefer, least, most, sticky, label, metric, resource, load, input
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo
`

const { declared, expectRefusal } = optionsFixture(HEAD)

test.each([
  ['cron("0 5 * * 1-5")', { type: 'cron', cron_expression: '0 5 * * 1-5', timezone: 'UTC' }],
  ['cron("*/5 8-18 1,15 JAN-MAR mon", "Europe/Oslo")', { type: 'cron', timezone: 'Europe/Oslo' }],
  ['cron(expression="@daily", timezone="UTC")', { cron_expression: '@daily' }],
  ['cron("0 0 L * 5#3 30")', { cron_expression: '0 0 L * 5#3 30' }],
  ['interval(hours=9)', { type: 'interval', interval_seconds: 32_400, timezone: 'UTC' }],
  ['interval(minutes=1, seconds=1.5)', { interval_seconds: 61.5 }],
  ['interval(30)', { interval_seconds: 30 }],
  [
    'interval(days=1, start_time=datetime(2027, 1, 2, 3), timezone="Asia/Tokyo")',
    { interval_seconds: 86_400, timezone: 'Asia/Tokyo', start_time: '2027-01-02T03:00:00' },
  ],
  ['once("2027-03-04T05:06:07Z")', { type: 'once', run_time: '2027-03-04T05:06:07Z' }],
  ['once(datetime(2027, 3, 4, tzinfo=timezone.utc))', { run_time: '2027-03-04T00:00:00Z' }],
  [
    'once(run_time=datetime(2027, 3, 4, 5, 6, 7, 89, tzinfo=ZoneInfo("Europe/Oslo")))',
    { run_time: '2027-03-04T05:06:07.000089', timezone: 'Europe/Oslo' },
  ],
  [
    'once(datetime(2027, 1, 1, tzinfo=timezone(timedelta(hours=-3, minutes=-30))))',
    { run_time: '2027-01-01T00:00:00-03:30' },
  ],
  ['once(datetime.fromisoformat("2027-01-01"))', { run_time: '2027-01-01T00:00:00' }],
  ['cron("@daily", overlap="skip")', { cron_expression: '@daily', overlap: 'skip' }],
  ['interval(hours=1, overlap=QUEUE)', { interval_seconds: 3_600, overlap: 'queue' }],
  ['once("2027-03-04T05:06:07Z", overlap="allow")', { type: 'once', overlap: 'allow' }],
  ['cron("@daily", overlap=None)', { type: 'cron' }],
  ['CronSchedule("@daily", "UTC", "skip")', { cron_expression: '@daily', overlap: 'skip' }],
  ['CronSchedule(cron_expression="@daily")', { cron_expression: '@daily' }],
  ['IntervalSchedule(0, 5)', { type: 'interval', interval_seconds: 300 }],
  [
    'IntervalSchedule(timedelta(hours=1, minutes=30))',
    { interval_seconds: 5_400, timezone: 'UTC' },
  ],
  [
    'IntervalSchedule(timedelta(1), "Asia/Tokyo", datetime(2027, 1, 2), None, "skip")',
    {
      interval_seconds: 86_400,
      timezone: 'Asia/Tokyo',
      start_time: '2027-01-02T00:00:00',
      overlap: 'skip',
    },
  ],
  ['IntervalSchedule(interval=timedelta(weeks=1))', { interval_seconds: 604_800 }],
  ['OnceSchedule("2027-03-04T05:06:07Z")', { type: 'once', run_time: '2027-03-04T05:06:07Z' }],
  ['NIGHTLY', { cron_expression: '0 3 * * *' }],
])('schedule=%s: read', (value, config) => {
  const { metadata } = declared(`schedule=${value}`, 'NIGHTLY = cron("0 3 * * *")\nQUEUE = "queue"')
  expect(metadata.schedule).toMatchObject(config)
})

test.each([
  ['"0 5 * * *"', 'a call of cron, interval or once'],
  ['f()', 'a call of cron, interval or once'],
  ['cron()', "requires 'expression'"],
  ['cron("0 5 * *")', 'schedule.expression'],
  ['cron("60 * * * *")', 'schedule.expression'],
  ['cron("* * 30 2 *")', 'schedule.expression'],
  ['cron("0 0 31 2,4,6,9,11 *")', "schedule.expression of workflow 'job' in line 7: it never"],
  ['cron("@daily", overlap="sometimes")', 'schedule.overlap'],
  ['cron("@daily", "UTC", "skip", 1)', 'so many arguments'],
  ['interval(hours=1, overlap=f())', 'schedule.overlap'],
  ['cron("*/0 * * * *")', 'schedule.expression'],
  ['cron("1-99999999 * * * *")', 'schedule.expression'],
  ['cron("@reboot")', 'schedule.expression'],
  ['cron("٠ 5 * * *")', 'schedule.expression'],
  ['cron("0 5 * * * * *")', 'schedule.expression'],
  ['cron("0 5 * * *", "Mars/X")', "schedule.timezone of workflow 'job' in line 7: 'Mars/X'"],
  ['cron("0 5 * * *", timezone="local")', 'schedule.timezone'],
  ['cron("0 5 * * *", colour="red")', "does not take 'colour'"],
  ['cron(expr())', 'schedule.expression'],
  ['interval()', 'an interval is 1 second'],
  ['interval(seconds=0)', 'an interval is'],
  ['interval(hours=-1)', 'an interval is'],
  ['interval(seconds=0.001)', 'an interval is'],
  ['interval(seconds=1e18)', 'an interval is'],
  ['interval(seconds="5")', 'schedule.seconds'],
  ['interval(hours=1, start_time=datetime.now())', 'schedule.start_time'],
  ['IntervalSchedule(interval=every())', 'schedule.interval'],
  ['IntervalSchedule(timedelta(0))', 'an interval is 1 second'],
  ['interval(timedelta(hours=1))', 'schedule.seconds'],
  ['once()', "requires 'run_time'"],
  ['once(datetime(2027, 2, 30))', 'schedule.run_time'],
  ['once("tomorrow")', 'schedule.run_time'],
  ['once(datetime.now() + timedelta(hours=1))', 'schedule.run_time'],
])('schedule=%s: refused', (value, reason) => {
  expectRefusal(`schedule=${value}`, reason)
})

test.each(['cron("@daily")', 'cron("@daily", overlap=None)'])(
  'schedule=%s: no overlap policy',
  (value) => {
    expect(declared(`schedule=${value}`).metadata.schedule).not.toHaveProperty('overlap')
  },
)

test('routing policy: converted to terms', () => {
  const { metadata } = declared(`routing=score(
    prefer(label("region") == input("customer.region"), weight=10),
    prefer(60 > metric("temp"), 2),
    least(load()), least(load), most(resource("memory_available"), weight=2), sticky(3))`)
  expect(metadata.routing.terms).toEqual([
    {
      kind: 'prefer',
      selector: 'label:region',
      op: '==',
      value: { $input: 'customer.region' },
      weight: 10,
    },
    { kind: 'prefer', selector: 'metric:temp', op: '<', value: 60, weight: 2 },
    { kind: 'least', selector: 'load', weight: 1 },
    { kind: 'least', selector: 'load', weight: 1 },
    { kind: 'most', selector: 'resource:memory_available', weight: 2 },
    { kind: 'sticky', weight: 3 },
  ])
})

test.each([
  'f()',
  'score()',
  'score(load)',
  'score(least(load(), weight=0))',
  'score(least(load(), weight=n()))',
  'score(least(resource("disk")))',
  'score(prefer(label("a")))',
  'score(prefer(label("a") == g()))',
  'score(prefer(label(k()) == "b"))',
  'score(prefer("a" == "b"))',
  'score(prefer(1 < metric("a") < 2))',
  'score(*terms)',
])('routing=%s: refused', (value) => {
  expectRefusal(`routing=${value}`, 'routing policy must be statically declarable')
})
