import { ruleOf } from './access/rules.ts'
import type { Route } from './route.ts'

/** The routes and what each asks of its caller, as a page of Markdown. */
export function accessTable(routes: Iterable<Route>): string {
  const rows = [...routes].map(
    ({ method, path, access }) => `| ${method.toUpperCase()} | \`${path}\` | ${needOf(access)} |`,
  )
  return [
    '# Access',
    '',
    'Made from the routes of the gateway by `npm run contracts`. What is not listed is refused.',
    'While `[svc.security.auth].enabled` is false, permissions are not asked for.',
    '',
    '| method | path | needs |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function needOf(access: string): string {
  const rule = ruleOf(access)
  if (rule) return `*${access}*: ${rule.summary}`
  if (access === 'public') return 'nothing'
  if (access === 'authenticated') return 'to be authenticated'
  return `\`${access}\``
}
