import { createHmac } from 'node:crypto'

/**
 * The password of a service at a server whose administrator has this one: who knows it knows theirs,
 * and from theirs nobody learns another.
 */
export const servicePassword = (password, service) =>
  createHmac('sha256', password).update(service).digest('hex').slice(0, 32)
