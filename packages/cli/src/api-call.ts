import { ConnectionError, StatusError } from '@windlass/api-client/errors'
import { type ApiRequest, createApiClient } from '@windlass/api-client/http-client'
import { callerToken } from '@windlass/runtime/config/load-settings'
import {
  type CommandContext,
  type CommandOption,
  Failure,
  type ParsedArguments,
} from './command.ts'
import { findServerUrl } from './server-url.ts'

/** The options of every command that calls the server. */
export const serverOptions: Record<string, CommandOption> = {
  'server-url': { type: 'string', value: 'URL', about: 'the server to call' },
}

export type ApiCall = (request: ApiRequest) => Promise<string>

/**
 * Creates a function that calls the public API and returns the JSON text of the answer; throws Failure with
 * a sentence for the user.
 */
export function createApiCall(parsed: ParsedArguments, context: CommandContext): ApiCall {
  const token = callerToken(context.env)
  const authorization = token === undefined ? undefined : `Bearer ${token}`
  const { signal } = new AbortController() // a signal to the process ends the call
  let found: Promise<string> | undefined
  return async (request) => {
    found ??= findServerUrl(parsed, context)
    const url = await found
    try {
      return await createApiClient(url).call(request, { authorization, signal })
    } catch (error) {
      throw toFailure(error, url)
    }
  }
}

const NEXT_STEPS: Record<number, string> = {
  401: '; set SVC_AUTH_TOKEN to a valid API key or token',
  429: '; retry later',
  503: '; retry later',
}

function toFailure(error: unknown, url: string): Error {
  if (error instanceof StatusError) {
    const { status, detail } = error
    if (detail === undefined)
      return new Failure(
        `${url} answered with status ${status} and no reason; check that it is the URL of a Windlass server`,
      )
    const verb = status < 500 ? 'refused' : 'failed'
    return new Failure(
      `the server ${verb} the request (${status}): ${detail}${NEXT_STEPS[status] ?? ''}`,
    )
  }
  if (error instanceof ConnectionError)
    return new Failure(
      `cannot connect to ${url} (${error.message}); start the server, or name another one with --server-url`,
    )
  return new Failure(`the call of ${url} failed: ${(error as Error).message}`)
}
