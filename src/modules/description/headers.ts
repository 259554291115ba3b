import type { Operation } from '../../http/operation.ts';
import type { Components } from './components.ts';

const integer = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
});

const HEADERS = {
  ETag: { description: 'Identifies this content; send it back as `If-None-Match`.', schema: { type: 'string' } },
  'Retry-After': integer('With 429 and 503: seconds to wait before trying again.', 17),
  'RateLimit-Limit': integer('Calls allowed by the tightest limit in its window.', 60),
  'RateLimit-Remaining': integer('Calls left in this window.', 59),
  'RateLimit-Reset': integer('Seconds until the window ends.', 43),
  'WWW-Authenticate': {
    description: 'With 401: the expected credential.',
    schema: { type: 'string', examples: ['Bearer'] },
  },
} as const;

type HeaderName = keyof typeof HEADERS;

const RATE_LIMIT: readonly HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

export const HEADERS_EXPLAINED = [
  'Where calls are limited, every answer has `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`, as described with refusals; `/openapi.roles.json` has the limit of each operation.',
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

/** Describes the headers of refusals: the expected credential, the limit, and when to try again. */
export function headersOfFailure(components: Components): Headers {
  return named(['WWW-Authenticate', 'Retry-After', ...RATE_LIMIT], components);
}

function named(names: readonly HeaderName[], components: Components): Headers {
  if (names.length === 0) return {};
  return {
    headers: Object.fromEntries(
      names.map((name) => [name, components.share('headers', name.replace('RateLimit-', ''), HEADERS[name])]),
    ),
  };
}
