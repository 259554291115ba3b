import { isOfClients, type Operation } from '../../http/operation.ts';
import type { Components } from './components.ts';

const integer = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
});

const HEADERS = {
  ETag: { description: 'Identifies this content; send it back as `If-None-Match`.', schema: { type: 'string' } },
  'Retry-After': integer('Seconds to wait before trying again.', 17),
  'RateLimit-Limit': integer('Calls allowed by the tightest limit in its window.', 60),
  'RateLimit-Remaining': integer('Calls left in this window.', 59),
  'RateLimit-Reset': integer('Seconds until the window ends.', 43),
  'WWW-Authenticate': { description: 'The expected credential.', schema: { type: 'string', const: 'Bearer' } },
  ClientChallenge: {
    description: 'The expected credential: `Bearer` if an API key was sent.',
    schema: { type: 'string', examples: ['Basic realm="gatehouse"'] },
  },
} as const;

type HeaderName = keyof typeof HEADERS;

const RATE_LIMIT: readonly HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

export const HEADERS_EXPLAINED = [
  'Where calls are limited, every answer has `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`, as described with 429.',
  'Each answer has an `X-Request-Id`, which an error repeats as `requestId`.',
].join(' ');

export interface Headers {
  readonly headers?: Readonly<Record<string, object>>;
}

/** Leaves out rate limit headers: they are described with 429, and for all other responses in `HEADERS_EXPLAINED`. */
export function headersOfSuccess({ isRevalidated }: Operation, components: Components): Headers {
  return named(isRevalidated ? ['ETag'] : [], components);
}

export function headersOfNotModified(components: Components): Headers {
  return named(['ETag'], components);
}

/** Describes `WWW-Authenticate` for 401, except on pages, and `Retry-After` for 429 and 503. */
export function headersOfFailure(
  status: number,
  { style, access }: Pick<Operation, 'style' | 'access'>,
  components: Components,
): Headers {
  if (status === 401 && isOfClients(access))
    return { headers: { 'WWW-Authenticate': components.share('headers', 'ClientChallenge', HEADERS.ClientChallenge) } };
  if (status === 401 && style !== 'page') return named(['WWW-Authenticate'], components);
  if (status === 429) return named(['Retry-After', ...RATE_LIMIT], components);
  return named(status === 503 ? ['Retry-After'] : [], components);
}

function named(names: readonly HeaderName[], components: Components): Headers {
  if (names.length === 0) return {};
  return {
    headers: Object.fromEntries(
      names.map((name) => [name, components.share('headers', name.replace('RateLimit-', ''), HEADERS[name])]),
    ),
  };
}
