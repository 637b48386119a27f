import { STATUS_CODES } from 'node:http'

/** Status of the refusal of bytes that Node cannot read as a request, by the code of its error; else 400. */
export const STATUS_OF_ERROR: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** A refusal in the format of this API, for a connection that has no response object. */
export function rawResponse(status: number): string {
  const body = JSON.stringify({ detail: STATUS_CODES[status] })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...(status === 503 ? ['Retry-After: 1'] : []),
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
