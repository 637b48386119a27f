import {
  type ChannelCredentials,
  credentials,
  experimental,
  ServerCredentials,
} from '@grpc/grpc-js'
import type { Tls } from './service-identity.ts'

/**
 * Certificate files in the form that grpc-js expects: each listener gets the current ones at once, and
 * changed ones later.
 */
class Certificates implements experimental.CertificateProvider {
  readonly #tls: Tls
  readonly #stops = new Map<unknown, (() => void) | undefined>()

  constructor(tls: Tls) {
    this.#tls = tls
  }

  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#follow(listener, () => listener({ caCertificate: this.#tls.ca }))
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#follow(listener, () =>
      listener({ certificate: this.#tls.cert, privateKey: this.#tls.key }),
    )
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#leave(listener)
  }

  removeIdentityCertificateListener(
    listener: experimental.IdentityCertificateUpdateListener,
  ): void {
    this.#leave(listener)
  }

  #follow(listener: unknown, update: () => void): void {
    this.#stops.set(listener, this.#tls.onChange?.(update))
    // Not at once: a server registers its listener for the files after this call.
    queueMicrotask(update)
  }

  #leave(listener: unknown): void {
    this.#stops.get(listener)?.()
    this.#stops.delete(listener)
  }
}

/** Credentials of a server; clients need a certificate of the same authority. Unencrypted without TLS. */
export function serverCredentialsOf(tls: Tls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure()
  const files = new Certificates(tls)
  return experimental.createCertificateProviderServerCredentials(files, files, true)
}

/** Credentials of a client. Unencrypted without TLS. */
export function channelCredentialsOf(tls: Tls | undefined): ChannelCredentials {
  if (!tls) return credentials.createInsecure()
  const files = new Certificates(tls)
  return experimental.createCertificateProviderChannelCredentials(files, files)
}
