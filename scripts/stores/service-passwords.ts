import { createHmac } from 'node:crypto'

/**
 * Derives the password of a service from the administrator's password of a server. The derivation is
 * one-way: a service's password reveals no other.
 */
export const servicePassword = (password: string, service: string): string =>
  createHmac('sha256', password).update(service).digest('hex').slice(0, 32)
