import { path } from '@windlass/api-client/path'
import { getElements, getMembers } from '@windlass/api-client/payload'
import { permits } from '@windlass/domain/permissions'
import { membersOf, stringOf } from '@windlass/runtime/json/json'
import { type ApiCall, createApiCall, serverOptions } from '../api-call.ts'
import { type Command, type CommandContext, type ParsedArguments, UsageError } from '../command.ts'
import { parseList, readText } from '../input.ts'
import { jsonOption, printJson, printTable, textsOf } from '../output.ts'
import { escapeLine } from '../terminal-text.ts'
import { issuerOf, issuerOption, principalPath } from './principal.ts'

/** Permissions of one `POST /auth/check`. */
const MAX_CHECKS = 200

interface Checked {
  permission: string
  allowed: boolean
}

export const authCheck: Command = {
  words: 'auth check',
  args: ['permissions?'],
  about:
    'Check if you, or a principal, have permissions, such as `workflow:team:report:run,admin:*`; exit status 1 if one is missing',
  options: {
    workflow: {
      type: 'string',
      value: 'NAME',
      about:
        'check what reading and running this workflow, with its tasks and nested runs, requires',
    },
    principal: {
      type: 'string',
      value: 'SUBJECT',
      about: 'check the roles of this principal instead of your token',
    },
    ...issuerOption,
    ...serverOptions,
    ...jsonOption,
  },
  async run(parsed, context) {
    const call = createApiCall(parsed, context)
    const { workflow, principal, json } = parsed.options
    const named = parseList(parsed.args[0] ?? '')
    if (named.length === 0 && workflow === undefined)
      throw new UsageError('name permissions, or --workflow NAME')
    const required = workflow === undefined ? [] : await permissionsOf(call, String(workflow))
    const asked = [...new Set([...named, ...required])]
    const results =
      principal === undefined
        ? await checkCaller(call, asked)
        : await checkPrincipal(call, parsed, asked, context)
    if (json) printJson(context, JSON.stringify({ results }))
    else {
      const rows = results.map(({ permission, allowed }) => [permission, allowed ? 'yes' : 'no'])
      printTable([['PERMISSION', 'ALLOWED'], ...rows.map((row) => row.map(escapeLine))], context)
    }
    return results.every(({ allowed }) => allowed) ? 0 : 1
  },
}

/** The contract lists it for a workflow that declares secrets, although a run needs no permission for these. */
const OF_SECRETS = 'admin:secrets:read'

async function permissionsOf(call: ApiCall, workflow: string): Promise<string[]> {
  const request = { method: 'GET', path: path`/auth/permissions`, query: { workflow } } as const
  return textsOf(await call(request)).filter((permission) => permission !== OF_SECRETS)
}

async function checkCaller(call: ApiCall, permissions: string[]): Promise<Checked[]> {
  const results: Checked[] = []
  for (let at = 0; at < permissions.length; at += MAX_CHECKS) {
    const body = JSON.stringify({ permissions: permissions.slice(at, at + MAX_CHECKS) })
    const route = path`/auth/check`
    const request = { method: 'POST', path: route, body, repeatability: 'repeatable' } as const
    const page = getElements(getMembers(await call(request), ['results']).results ?? '')
    results.push(...page.map((result) => JSON.parse(result) as Checked))
  }
  return results
}

/** Compares with the roles of a principal, as the server does at each of its requests. */
async function checkPrincipal(
  call: ApiCall,
  parsed: ParsedArguments,
  permissions: string[],
  { err }: CommandContext,
): Promise<Checked[]> {
  const route = principalPath(String(parsed.options.principal))
  const found = await call({ method: 'GET', path: route, query: issuerOf(parsed) })
  const { roles, enabled } = getMembers(found, ['roles', 'enabled'])
  if (enabled !== 'true') err('the principal is disabled, so that it may do nothing\n')
  const held = new Set(textsOf(roles))
  const granted = getElements(await call({ method: 'GET', path: path`/admin/roles` }))
    .map((role) => membersOf(role))
    .filter((role) => held.has(stringOf(role?.get('name')) ?? ''))
    .flatMap((role) => textsOf(role?.get('permissions')))
  return permissions.map((permission) => ({
    permission,
    allowed: enabled === 'true' && granted.some((one) => permits(one, permission)),
  }))
}

export const authTestToken: Command = {
  words: 'auth test-token',
  args: ['token?'],
  about: 'Show the principal of a token: @file, or standard input; exit status 1 if it is invalid',
  options: { ...serverOptions, ...jsonOption },
  async run(parsed, context) {
    const [given = '-'] = parsed.args
    if (given !== '-' && !given.startsWith('@'))
      throw new UsageError(
        'a token as an argument can be read in the list of processes; use @file or standard input',
      )
    const token = (await readText(given)).trim()
    if (token === '') throw new UsageError('the token is empty')
    const body = JSON.stringify({ token })
    const request = { method: 'POST', path: path`/auth/test-token`, body } as const
    const answer = await createApiCall(parsed, context)(request)
    printJson(context, answer)
    return membersOf(answer)?.get('valid') === 'true' ? 0 : 1
  },
}
