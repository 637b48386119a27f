import { expect, test } from 'vitest'
import { analyseSource } from './analysis-fixture.ts'

const read = (source: string | Uint8Array) => analyseSource(source)

const SDK =
  'from windlass import ResourceRequest, cron, interval, once, workflow\nfrom windlass.routing import label, prefer, score\n'
const withOptions = (options: string) =>
  `${SDK}@workflow.with_options(${options})\nasync def job(ctx): ...\n`
const BODY = `${SDK}@workflow\nasync def job(ctx): ...\n`

test.each<[row: string, what: string, source: string | Uint8Array, reason: RegExp]>([
  ['N117', 'not UTF-8', Buffer.from([0x23, 0xff, 0xfe, 0x0a]), /UTF-8/],
  ['N117', 'another encoding', `# coding: utf-7\n${BODY}`, /encoding|UTF-8/],
  ['N117', 'a NUL byte', `${BODY}x = "\0"\n`, /null byte/],
  ['N117', 'tabs and blanks', `${SDK}if 1:\n\tx = 1\n        y = 2\n${BODY}`, /line 5/],
  ['N121', 'a computed namespace', withOptions('namespace=f()'), /namespace .*constant/],
  ['N121', 'a namespace of dots', withOptions('namespace=".."'), /namespace/],
  ['N121', 'a name with a slash', withOptions('name="a/b"'), /name/],
  ['N121', 'a name with a colon', withOptions('name="a:b"'), /name/],
  ['N121', 'a name of 10 kB', withOptions(`name="${'a'.repeat(10_000)}"`), /name/],
  ['N121', 'a namespace of another script', withOptions('namespace="größe"'), /namespace/],
  ['N121', 'a namespace of objects', withOptions('namespace="__proto__"'), /namespace/],
  ['N121', 'one name twice', `${BODY}${BODY}`, /defined twice/],
  ['N122', 'a secret with a slash', withOptions('secret_requests=["a/b"]'), /secret/],
  [
    'N123',
    '65 labels',
    withOptions(`affinity={${Array.from({ length: 65 }, (_, i) => `"l${i}": "v"`).join()}}`),
    /64 labels/,
  ],
  ['N123', 'a label with a line end', withOptions('affinity={"a": "b\\n"}'), /affinity/],
  [
    'N123',
    'a selector of 100,000 characters',
    withOptions(`routing=score(prefer(label("${'a'.repeat(100_000)}") == "x"))`),
    /routing/,
  ],
  ['N123', 'negative processors', withOptions('requests=ResourceRequest(cpu=-1)'), /requests.cpu/],
  [
    'N123',
    'memory that is no number',
    withOptions('requests=ResourceRequest(memory=float("nan"))'),
    /requests.memory/,
  ],
  ['N124', 'an interval of nothing', withOptions('schedule=interval(seconds=0)'), /schedule/],
  ['N124', 'another planet', withOptions('schedule=cron("@daily", timezone="Mars/X")'), /Mars\/X/],
  ['N124', 'seven fields', withOptions('schedule=cron("* * * * * * *")'), /schedule.expression/],
  ['N124', 'minute 60', withOptions('schedule=cron("60 * * * *")'), /schedule.expression/],
  ['N124', 'a moment that is no date', withOptions('schedule=once("soon")'), /schedule.run_time/],
])('%s: %s: refused with the reason', (_, ...[, source, reason]) => {
  expect(() => read(source)).toThrow(
    expect.objectContaining({ kind: 'invalid', message: expect.stringMatching(reason) }),
  )
})

test.each([
  ['N117', 'a byte order mark', `\ufeff${BODY}`],
  ['N117', 'windows line ends', BODY.replaceAll('\n', '\r\n')],
  ['N119', 'a loop without end', `while True: pass\n${BODY}`],
  ['N119', 'a command', `import os, socket\nos.system("touch x")\n${BODY}`],
  ['N121', 'a name of objects', withOptions('name="__proto__"')],
  ['N121', 'a keyword', withOptions('name="class"')],
  ['N122', "others' secrets", withOptions('secret_requests=["admin password"]')],
  ['N124', 'every second', withOptions('schedule=cron("* * * * * *")')],
])('%s: %s: accepted', (_row, _what, source) => {
  expect(read(source)).toHaveLength(1)
})
