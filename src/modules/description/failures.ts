/** Errors in the OpenAPI description: the codes an operation answers with, and the body of each status. */
import { ERROR_CATALOGUE, type ErrorCode } from '../../core/error.ts';
import { WAITLIST_STANDINGS } from '../../core/waitlist-standing.ts';
import { onlyOne } from '../../core/required.ts';
import { type Style, verifyCodeField } from '../../http/errors.ts';
import { describeLimitClass, type LimitSettings } from '../../http/limits.ts';
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

/** Names of the responses for common sets of codes; others are named after their codes. */
const ANSWER_NAMES: Readonly<Record<string, string>> = {
  'forbidden membership_blocked': 'Forbidden',
  'admin_scope_required forbidden membership_blocked': 'NotAdmin',
  'forbidden membership_blocked reauthentication_required': 'NotProven',
  'invalid_cursor invalid_request': 'InvalidList',
  'code_exhausted code_expired code_invalid invalid_request': 'InvalidCode',
  payload_too_large: 'TooLarge',
  unsupported_media_type: 'WrongType',
};

/** Refusals that any operation may answer, by status: described once, as its `default`. */
const COMMON: Readonly<Record<number, ErrorCode>> = {
  408: 'request_timeout',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  500: 'internal',
  503: 'unavailable',
};

const COMMON_WORDS = [
  'Any other refusal: `internal` (500), or `unavailable` (503).',
  'Where the request has a body also `request_timeout` (408), `payload_too_large` (413) and `unsupported_media_type` (415).',
].join(' ');

/**
 * Returns one response per status, shared by all operations with the same codes. A status with nothing but its common
 * refusal is part of `default`.
 */
export function failuresOf(
  operation: Operation,
  components: Components,
  limits: LimitSettings,
): Record<string, Reference> {
  const { style = 'envelope', limit } = operation;
  const family = style === 'flat' ? 'envelope' : style;
  const ofFamily = family === 'envelope' ? '' : pascalCase(family);
  const byStatus = Map.groupBy(errorCodesOf(operation), (code) => statusIn(operation, code));
  const isCommon = ([status, codes]: [number, ErrorCode[]]) => codes.length === 1 && codes[0] === COMMON[status];
  const [common, own] = family === 'page' ? [[], [...byStatus]] : partition([...byStatus], isCommon);
  const answers = Object.fromEntries(
    own.map(([status, unsorted]) => {
      const codes = unsorted.toSorted();
      const ofLimit = status === 429 ? `_${limit}` : '';
      const description = [
        `${codes.map((code) => `\`${code}\``).join(', ')}.`,
        ...(status === 429 ? [`Limit: ${describeLimitClass(limit, limits)}.`] : []),
      ].join(' ');
      const response = {
        description,
        ...headersOfFailure(status, operation, components),
        content: contentOf(family, codes, components),
      };
      return [
        status,
        components.share(
          'responses',
          `${ofFamily}${ANSWER_NAMES[codes.join(' ')] ?? codes.map(pascalCase).join('')}${ofLimit}`,
          response,
        ),
      ];
    }),
  );
  if (common.length === 0) return answers;
  const shared = {
    description: COMMON_WORDS,
    ...headersOfFailure(503, operation, components),
    content: contentOf(family, Object.values(COMMON).toSorted(), components),
  };
  return { ...answers, default: components.share('responses', `${ofFamily}Refusal`, shared) };
}

function partition<Item>(items: readonly Item[], isIn: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isIn), items.filter((item) => !isIn(item))];
}

function contentOf(family: Exclude<Style, 'flat'>, codes: readonly ErrorCode[], components: Components): object {
  if (family === 'page') return { 'text/html': { schema: { type: 'string' } } };
  const names = namesOf(family, codes);
  const examples = Object.fromEntries(
    codes.map((code) => [
      code,
      family === 'envelope'
        ? components.share('examples', code, { value: exampleOf(code, names) })
        : { value: exampleOf(code, names) },
    ]),
  );
  const schema = {
    allOf: [
      components.share('schemas', names.schema, bodySchema(names, components)),
      { properties: { [names.code]: { enum: codes }, ...interestOf(codes, components) } },
    ],
  };
  return { 'application/json': { schema, examples } };
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

function namesOf(family: keyof typeof SHAPES, codes: readonly ErrorCode[]): FailureNames {
  const names = SHAPES[family];
  if (family !== 'verify') return names;
  const code = onlyOne([...new Set(codes.map(verifyCodeField))]);
  return code === 'errorMessage' ? { ...names, schema: 'VerifyRefusal', code } : names;
}

function bodySchema({ flag, code, text }: FailureNames, components: Components): object {
  return {
    type: 'object',
    required: [...(flag ? [flag] : []), code, ...(flag === 'success' ? [text] : []), 'requestId'],
    properties: {
      ...(flag && { [flag]: { type: 'boolean', const: false } }),
      [code]: components.share('schemas', 'ErrorCode', { type: 'string', enum: Object.keys(ERROR_CATALOGUE).sort() }),
      [text]: { type: 'string', description: 'One sentence that says what to do.' },
      requestId: { type: 'string', examples: ['req_01kat1h5ppe3bv2d9g3wq5r1xm'] },
      ...(flag && { fields: components.share('schemas', 'FieldProblems', FIELDS) }),
    },
  };
}

/** Refused sign-ins by code say where the request for access stands. */
function interestOf(codes: readonly ErrorCode[], components: Components): object {
  return codes.includes('waitlist') ? { interest: components.share('schemas', 'RefusedInterest', INTEREST) } : {};
}

const INTEREST = {
  type: 'object',
  description: 'After a right code: the request for access, with a ticket for `public/access-state`.',
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
