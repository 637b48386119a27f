import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { AuditChainVerifier, type Head } from '@windlass/domain/audit'
import { AUDIT_PAGE, type AuditLine, formatHead, readAuditPage } from '@windlass/domain/audit-pages'
import { type ApiCall, createApiCall, serverOptions } from '../api-call.ts'
import { parseCheckpoint } from '../audit-entries.ts'
import { type AuditSink, openFileSink, openHttpSink } from '../audit-sink.ts'
import { type Command, Failure, type ParsedArguments, UsageError } from '../command.ts'
import { execProgram } from '../exec-program.ts'
import { projectFile, toIdentityEnv } from '../project.ts'
import { requireNoPassword } from '../server-url.ts'

const POLL_MS = 5_000
/** The header `Authorization` of the deliveries. */
const VARIABLE = 'WINDLASS_AUDIT_AUTHORIZATION'
/** The log was changed; status 1 means that it could not be read or delivered. */
const BROKEN = 3

export const auditExport: Command = {
  words: 'audit export',
  args: ['file?'],
  about: 'Append new entries of the audit log to FILE as NDJSON, or post them to a URL',
  options: {
    url: { type: 'string', value: 'URL', about: 'post to this URL instead of a file' },
    checkpoint: {
      type: 'string',
      value: 'FILE',
      about: 'with --url: keeps the last delivered entry, SEQ:HASH',
    },
    follow: { type: 'boolean', about: 'continue with later entries until the process ends' },
    'after-pruned': {
      type: 'boolean',
      about: 'begin after entries that were pruned and that no file has',
    },
    ...serverOptions,
  },
  async run(parsed, context) {
    const sink = await openSink(parsed, context.env)
    try {
      const call = createApiCall(parsed, context)
      for (;;) {
        const problems = await exportNew(call, sink, {
          afterPruned: parsed.options['after-pruned'],
        })
        if (problems.length > 0) {
          for (const problem of problems) context.err(`${problem}\n`)
          return BROKEN
        }
        if (!parsed.options.follow) break
        await sleep(POLL_MS)
      }
      context.out(`${formatHead(sink.checkpoint)}\n`)
      return 0
    } finally {
      await sink.close()
    }
  },
}

function openSink({ args, options }: ParsedArguments, env: NodeJS.ProcessEnv): Promise<AuditSink> {
  const [path, url, checkpointFile] = [args[0], options.url, options.checkpoint]
  if (path !== undefined && url === undefined && checkpointFile === undefined)
    return openFileSink(path)
  if (path !== undefined || typeof url !== 'string' || typeof checkpointFile !== 'string')
    throw new UsageError('name either a file, or --url and --checkpoint')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`'${url}' is not an http or https URL`)
  requireNoPassword(url, 'the receiver', VARIABLE)
  const authorization = env[VARIABLE]?.trim()
  if (authorization !== undefined && /[^ -~]/.test(authorization))
    throw new Failure(`${VARIABLE} has a character that no header can have; set it again`)
  return openHttpSink({ url, checkpointFile, authorization })
}

/**
 * Delivers all entries after the checkpoint, page by page. Each page is verified first; a page that does
 * not continue the checkpoint is not delivered, and its problems are returned.
 */
async function exportNew(
  call: ApiCall,
  sink: AuditSink,
  { afterPruned }: { afterPruned: string | boolean | undefined },
): Promise<readonly string[]> {
  for (;;) {
    const { lines } = await readAuditPage(call, sink.checkpoint.seq)
    const verifier = new AuditChainVerifier(undefined, startOf(lines, sink.checkpoint, afterPruned))
    for (const { entry } of lines) verifier.verifyNext(entry)
    if (verifier.problems.length > 0) return verifier.problems
    if (lines.length > 0) await sink.write(lines)
    if (lines.length < AUDIT_PAGE) return []
  }
}

/** The entry that the first line must continue. Throws Failure if it is pruned, unless the export may begin after it. */
function startOf(
  [first]: readonly AuditLine[],
  checkpoint: Head,
  afterPruned: string | boolean | undefined,
): Head {
  if (!first || checkpoint.seq > 0 || first.entry.seq === 1) return checkpoint
  const { seq, previous_hash: hash } = first.entry
  if (afterPruned) return { seq: seq - 1, hash }
  throw new Failure(
    `the entries before ${seq} were pruned: continue the file or checkpoint that has them, or begin after them with --after-pruned`,
  )
}

/**
 * Deletes directly from the database, because an administrator of the API must not be able to delete
 * evidence.
 */
export const auditPrune: Command = {
  words: 'audit prune',
  args: ['checkpoint'],
  about: 'Delete exported entries up to SEQ:HASH that are older than 7 days, in [svc.postgres].url',
  async run({ args }, { env }) {
    const checkpoint = formatHead(parseCheckpoint(args[0] ?? ''))
    const program = fileURLToPath(projectFile('services/identity/dist/prune-audit.js'))
    return execProgram(process.execPath, [program, checkpoint], await toIdentityEnv(env))
  },
}
