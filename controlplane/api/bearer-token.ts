import type { FastifyRequest } from "fastify";

/**
 * The token that a request shows in `Authorization: Bearer`, the scheme in any case and with any number of
 * blanks behind it (RFC 9110, 11.4); undefined where the header is anything else.
 */
export function bearerToken({ headers }: FastifyRequest): string | undefined {
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(headers.authorization ?? "") ?? [];
  return token;
}
