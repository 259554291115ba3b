/** Request bodies and success responses of the OpenAPI description. */
import type { Operation } from '../../http/operation.ts';
import { FORM_TYPE, UPLOAD_FIELD, type UploadRule } from '../../http/upload.ts';
import type { Components, Reference } from './components.ts';
import { type Headers, headersOfNotModified, headersOfSuccess } from './headers.ts';
import { jsonSchema } from './json-schema.ts';

const BINARY = { type: 'string', format: 'binary' };

const NOT_MODIFIED = 'Not modified: the cached copy is current.';

const REDIRECT = {
  description: 'Redirects the browser.',
  headers: { Location: { required: true, schema: { type: 'string', format: 'uri' } } },
};

/** Besides the redirect, browsers may get a page. Linters and generators expect a response other than errors. */
const OTHER_PAGE = {
  description: 'Every other status is a page for people.',
  content: { 'text/html': { schema: { type: 'string' } } },
};

interface Body {
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, object> };
}

export function requestBodyOf(operation: Operation, components: Components): Body {
  const { body, upload, isBodyOptional, isFormAccepted } = operation;
  if (upload) return { requestBody: { required: true, content: fileContent(upload) } };
  if (!body) return {};
  const mediaTypes = ['application/json', ...(isFormAccepted ? ['application/x-www-form-urlencoded'] : [])];
  const schema = jsonSchema(body, components, operation.id);
  const content = Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
  return { requestBody: { required: !isBodyOptional, content } };
}

/** A file as raw body, or as the only field of a form. */
function fileContent({ mediaTypes }: UploadRule): Record<string, object> {
  const form = { type: 'object', required: [UPLOAD_FIELD], properties: { [UPLOAD_FIELD]: BINARY } };
  return {
    ...Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: BINARY }])),
    [FORM_TYPE]: { schema: form },
  };
}

interface Answer extends Headers {
  readonly description: string;
  readonly content?: Readonly<Record<string, object>>;
}

export function successesOf(operation: Operation, components: Components): Record<string, Answer | Reference> {
  if (operation.isRedirect) return { 302: REDIRECT, default: OTHER_PAGE };
  const success = {
    description: 'Success.',
    ...headersOfSuccess(operation, components),
    content: contentOf(operation, components),
  };
  const notModified = operation.isRevalidated && {
    304: components.share('responses', 'NotModified', {
      description: NOT_MODIFIED,
      ...headersOfNotModified(components),
    }),
  };
  return { [operation.isCreated ? 201 : 200]: success, ...notModified };
}

function contentOf(
  { id, data, mediaType, style = 'envelope' }: Operation,
  components: Components,
): Record<string, object> {
  if (mediaType) return { [mediaType]: { schema: mediaType.startsWith('image/') ? BINARY : { type: 'string' } } };
  const schema = data ? jsonSchema(data, components, id) : { type: 'object' };
  if (style !== 'envelope') return { 'application/json': { schema } };
  const wrapped = {
    type: 'object',
    required: ['success', 'data'],
    properties: { success: { type: 'boolean', const: true }, data: schema },
  };
  return { 'application/json': { schema: wrapped } };
}
