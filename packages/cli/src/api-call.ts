import {
  ArgumentError,
  CertificateError,
  ConnectionError,
  StatusError,
} from '@windlass/api-client/errors'
import type { ServerSentEvent } from '@windlass/api-client/event-stream'
import {
  type ApiCaller,
  type ApiClient,
  type ApiRequest,
  createApiClient,
} from '@windlass/api-client/http-client'
import { callerToken } from '@windlass/runtime/config/load-settings'
import {
  type CommandContext,
  type CommandOption,
  Failure,
  type ParsedArguments,
  UsageError,
} from './command.ts'
import { findServerUrl } from './server-url.ts'

/** The options of every command that calls the server. */
export const serverOptions: Record<string, CommandOption> = {
  'server-url': { type: 'string', value: 'URL', about: 'the server to call' },
  'ca-file': {
    type: 'string',
    value: 'FILE',
    about: 'certificate (PEM) of an authority to trust; default: WINDLASS_CA_FILE',
  },
}

export type ApiCall = (request: ApiRequest) => Promise<string>

interface ApiConnection {
  url: string
  client: ApiClient
  caller: ApiCaller
}

/** The client of one command; it is created at the first request. */
function createConnector(parsed: ParsedArguments, context: CommandContext) {
  const { signal } = new AbortController() // a signal to the process ends the call
  const connect = async (): Promise<ApiConnection> => {
    const authorization = authorizationOf(context.env)
    const url = await findServerUrl(parsed, context)
    const client = createApiClient(url, { retryForMs: context.retryForMs })
    return { url, client, caller: { authorization, signal } }
  }
  let found: Promise<ApiConnection> | undefined
  return () => {
    found ??= connect()
    return found
  }
}

/** An error of the platform about a header would quote the token. */
function authorizationOf(env: NodeJS.ProcessEnv): string | undefined {
  const token = callerToken(env)
  if (token === undefined) return undefined
  if (/^[!-~]+$/.test(token)) return `Bearer ${token}`
  throw new Failure(
    'SVC_AUTH_TOKEN has a character that tokens do not have; set it to the key or token alone',
  )
}

/**
 * Creates a function that calls the public API and returns the JSON text of the answer; throws Failure with
 * a sentence for the user.
 */
export function createApiCall(parsed: ParsedArguments, context: CommandContext): ApiCall {
  const connect = createConnector(parsed, context)
  return async (request) => {
    const { url, client, caller } = await connect()
    try {
      return await client.call(request, caller)
    } catch (error) {
      throw toFailure(error, url)
    }
  }
}

/** Creates a function that yields the events of a stream, after the event of this id if one is given. */
export function createApiStream(parsed: ParsedArguments, context: CommandContext) {
  const connect = createConnector(parsed, context)
  return {
    async *stream(request: ApiRequest, after?: string): AsyncGenerator<ServerSentEvent> {
      const { client, caller } = await connect()
      const headers: Record<string, string> = after === undefined ? {} : { 'last-event-id': after }
      yield* client.stream(request, { ...caller, headers })
    },
    toFailure: async (error: unknown) => toFailure(error, (await connect()).url),
  }
}

const NEXT_STEPS: Record<number, string> = {
  401: '; set SVC_AUTH_TOKEN to a valid API key or token',
  429: '; retry later',
  503: '; retry later',
}

function toFailure(error: unknown, url: string): Error {
  if (error instanceof ArgumentError || error instanceof Failure) return error
  if (error instanceof UsageError) return error
  return new Failure(describeFailure(error as Error, url))
}

function describeFailure(error: Error, url: string): string {
  if (error instanceof StatusError) return describeRefusal(error, url)
  if (error instanceof ConnectionError)
    return `cannot connect to ${url} (${error.message}); start the server, or name another one with --server-url`
  if (error instanceof CertificateError) {
    return error.isUntrusted
      ? `${url} has a certificate of an authority that is not trusted; name the file of the authority with --ca-file`
      : `${url} has a certificate that is not accepted: ${error.message}`
  }
  return `the call of ${url} failed: ${error.message}`
}

function describeRefusal({ status, detail }: StatusError, url: string): string {
  if (detail === undefined)
    return `${url} answered with status ${status} and no reason; check that it is the URL of a Windlass server`
  const verb = status < 500 ? 'refused' : 'failed'
  return `the server ${verb} the request (${status}): ${detail}${NEXT_STEPS[status] ?? ''}`
}
