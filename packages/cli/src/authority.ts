import { X509Certificate } from 'node:crypto'
import { type CommandContext, Failure, type ParsedArguments } from './command.ts'
import { execProgram } from './exec-program.ts'
import { readBytes } from './input.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs

/**
 * Returns the file of --ca-file, else of WINDLASS_CA_FILE, if this process does not trust its certificates
 * yet.
 */
export function findNewAuthority(
  { options }: ParsedArguments,
  { env }: CommandContext,
): string | undefined {
  const file = options['ca-file']?.toString() || env.WINDLASS_CA_FILE
  return file === undefined || file === '' || file === env.NODE_EXTRA_CA_CERTS ? undefined : file
}

/**
 * Runs a command line again in a process that also trusts the certificates of a file, because Node reads
 * them only at its start. Returns its exit status; throws Failure if the file has no certificate.
 */
export function runTrusting(file: string, argv: string[], { env }: CommandContext) {
  requireCertificates(file)
  const [, program = ''] = process.argv
  const args = [...process.execArgv, program, ...argv]
  return execProgram(process.execPath, args, { ...env, NODE_EXTRA_CA_CERTS: file })
}

/** Node ignores a file that it cannot use. */
function requireCertificates(file: string): void {
  const certificates = readBytes(file).toString('utf8').match(CERTIFICATE) ?? []
  if (certificates.length === 0)
    throw new Failure(`${file} has no certificate; name the certificate of the authority as PEM`)
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch (error) {
    throw new Failure(`${file} has an invalid certificate: ${(error as Error).message}`)
  }
}
