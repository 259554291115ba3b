/** Errors in the OpenAPI description: the codes an operation answers with, and their body, described once. */
import { ERROR_CATALOGUE, type ErrorCode } from '../../core/error.ts';
import { WAITLIST_STANDINGS } from '../../core/waitlist-standing.ts';
import { isList, isOfClients, type Operation } from '../../http/operation.ts';
import { type Components, pascalCase, type Reference } from './components.ts';
import { headersOfFailure } from './headers.ts';

/** Returns every error code of an operation: its own, and those implied by its access, limit and schemas. */
export function errorCodesOf(operation: Operation): ErrorCode[] {
  const { access, scope, limit, body, query, upload, style, errors = [] } = operation;
  const codes: ErrorCode[] = [...errors];
  if (access === 'token' && style === 'oauth') codes.push('invalid_token');
  else if (access === 'token' || access === 'holder')
    codes.push('invalid_token', 'revoked', 'expired', 'membership_blocked');
  else if (access === 'key') codes.push('invalid_api_key', 'forbidden');
  else if (isOfClients(access)) codes.push('invalid_client', 'forbidden');
  else if (access !== 'none') codes.push('unauthenticated');
  if (access === 'session' || access === 'person') codes.push('forbidden', 'membership_blocked');
  if (access === 'read' || access === 'full') codes.push('forbidden', 'membership_blocked');
  if (access === 'full' || access === 'client_full') codes.push('admin_scope_required');
  if (scope !== 'instance') codes.push('not_found');
  if (body || query || upload || isList(operation)) codes.push('invalid_request');
  if (body || upload) codes.push('payload_too_large', 'unsupported_media_type');
  // A body may arrive too slowly, or be one of too many slow ones.
  if (body || upload) codes.push('request_timeout', 'unavailable');
  if (limit !== 'none' || body) codes.push('rate_limited');
  // A malformed request is refused on every operation.
  if (codes.every((code) => ERROR_CATALOGUE[code].status >= 500)) codes.push('invalid_request');
  if (style !== 'page') codes.push('internal');
  return [...new Set(codes)];
}

/** Returns 401 for `invalid_client` where clients authenticate, else the catalogue's status. */
export function statusIn({ access }: Pick<Operation, 'access'>, code: ErrorCode): number {
  return code === 'invalid_client' && isOfClients(access) ? 401 : ERROR_CATALOGUE[code].status;
}

/** Refusals that say the same on every operation. The shared response describes them, not each operation. */
const COMMON_CODES: ReadonlySet<ErrorCode> = new Set([
  'invalid_request',
  'invalid_cursor',
  'unauthenticated',
  'forbidden',
  'membership_blocked',
  'admin_scope_required',
  'not_found',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal',
  'unavailable',
]);

export interface OwnRefusal {
  readonly code: ErrorCode;
  readonly status: number;
}

/** Returns the refusals that callers of this operation must know besides the common ones, by status. */
export function ownRefusals(operation: Operation): OwnRefusal[] {
  return errorCodesOf(operation)
    .filter((code) => !COMMON_CODES.has(code))
    .map((code) => ({ code, status: statusIn(operation, code) }))
    .toSorted((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1));
}

/** Returns the operation's own refusals as a sentence; undefined if it has none. */
export function refusalSentence(operation: Operation): string | undefined {
  const byStatus = Map.groupBy(ownRefusals(operation), ({ status }) => status);
  if (byStatus.size === 0) return undefined;
  const ofStatus = ([status, refusals]: [number, OwnRefusal[]]) =>
    `${status} ${refusals.map(({ code }) => `\`${code}\``).join(', ')}`;
  return `Errors: ${[...byStatus].map(ofStatus).join('; ')}.`;
}

/** Returns the operation's own refusals with their words, as a Markdown list; undefined if it has none. */
export function refusalList(operation: Operation): string | undefined {
  const lines = ownRefusals(operation).map(
    ({ code, status }) => `- \`${code}\` (${status}): ${ERROR_CATALOGUE[code].message}`,
  );
  return lines.length === 0 ? undefined : `Errors:\n\n${lines.join('\n')}`;
}

const REFUSED_WORDS = [
  'A refusal, by its status. An operation lists its own codes; these are common:',
  '400 `invalid_request`, on lists also `invalid_cursor`; 401 `unauthenticated`; 403 `forbidden`, `membership_blocked`,',
  'for Admin also `admin_scope_required`; 404 `not_found`; 429 `rate_limited`;',
  'with a body 408 `request_timeout`, 413 `payload_too_large`, 415 `unsupported_media_type`.',
  '500 `internal` and 503 `unavailable` have this body too.',
].join(' ');

/** Returns one response for all refusals, shared by all operations whose errors have the same shape. */
export function failuresOf(operation: Operation, components: Components): Record<string, Reference> {
  const { style = 'envelope' } = operation;
  const family = style === 'flat' ? 'envelope' : style;
  const response =
    family === 'page'
      ? { description: 'A page that explains the refusal.', content: { 'text/html': { schema: { type: 'string' } } } }
      : { description: REFUSED_WORDS, ...headersOfFailure(components), content: contentOf(family, components) };
  const name = family === 'envelope' ? 'Refused' : `Refused${pascalCase(family)}`;
  const reference = components.share('responses', name, response);
  // Some generators write a range such as `4XX` as a number. A redirect has a default of its own.
  return family === 'page' ? { 400: reference } : { 400: reference, default: reference };
}

function contentOf(family: keyof typeof SHAPES, components: Components): object {
  const shapes = family === 'verify' ? [SHAPES.verify, VERIFY_REFUSAL] : [SHAPES[family]];
  const schemas = shapes.map((names) => components.share('schemas', names.schema, bodySchema(names, components)));
  const schema = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
  return {
    'application/json': { schema, examples: { rate_limited: { value: exampleOf('rate_limited', SHAPES[family]) } } },
  };
}

interface FailureNames {
  readonly schema: string;
  readonly flag: string | null;
  readonly code: string;
  readonly text: string;
}

/** Error body shapes: the envelope's, those of the verification endpoints, and OAuth's (RFC 6749 §5.2). */
const SHAPES = {
  envelope: { schema: 'ApiError', flag: 'success', code: 'error', text: 'message' },
  session: { schema: 'SessionError', flag: 'ok', code: 'error', text: 'message' },
  verify: { schema: 'VerifyError', flag: 'success', code: 'error', text: 'message' },
  oauth: { schema: 'OAuthError', flag: null, code: 'error', text: 'error_description' },
} as const satisfies Record<string, FailureNames>;

/** Refusals of the caller, in the field of the verdicts. */
const VERIFY_REFUSAL = { ...SHAPES.verify, schema: 'VerifyRefusal', code: 'errorMessage' } as const;

function bodySchema({ schema, flag, code, text }: FailureNames, components: Components): object {
  return {
    type: 'object',
    required: [...(flag ? [flag] : []), code, ...(flag === 'success' ? [text] : []), 'requestId'],
    properties: {
      ...(flag && { [flag]: { type: 'boolean', const: false } }),
      [code]: components.share('schemas', 'ErrorCode', { type: 'string', enum: Object.keys(ERROR_CATALOGUE).sort() }),
      [text]: { type: 'string', description: 'One sentence that says what to do.' },
      requestId: { type: 'string', examples: ['req_01kat1h5ppe3bv2d9g3wq5r1xm'] },
      ...(flag && { fields: FIELDS }),
      ...(schema === 'ApiError' && { interest: INTEREST }),
    },
  };
}

const INTEREST = {
  type: 'object',
  description: 'With `waitlist`: the request for access, with a ticket for `public/access-state`.',
  required: ['status', 'since', 'ticket'],
  properties: {
    status: { type: 'string', enum: WAITLIST_STANDINGS },
    since: { type: ['string', 'null'], format: 'date-time' },
    ticket: { type: 'string' },
  },
};

const FIELDS = {
  type: 'array',
  description: 'The fields to correct; with 400 only.',
  items: {
    type: 'object',
    required: ['path', 'message'],
    properties: { path: { type: 'string', examples: ['emails.3'] }, message: { type: 'string' } },
  },
};

function exampleOf(error: ErrorCode, { flag, code, text }: FailureNames): object {
  return {
    ...(flag && { [flag]: false }),
    [code]: error,
    [text]: ERROR_CATALOGUE[error].message,
    requestId: 'req_01kat1h5ppe3bv2d9g3wq5r1xm',
  };
}
