/** Checks the OpenAPI description against the served operations. */
import { describe, expect, test } from 'bun:test';
import { type TSchema, Type } from '@sinclair/typebox';
import { EVENT_SCHEMAS, EVENT_TYPES, TEST_EVENT_TYPE } from '@/core/event.ts';
import { isOfClients, type Operation } from '@/http/operation.ts';
import { errorCodesOf, ownRefusals, statusIn } from '@/modules/description/failures.ts';
import { operationsInPart } from '@/modules/description/parts.ts';
import { createInstance } from '../support/instance.ts';

const instance = await createInstance();
const { operations } = instance.app;
const named = (list: readonly Operation[]) => list.map((operation) => [operation.id, operation] as const);
const documented = operations.filter(({ isUndocumented }) => !isUndocumented);
/** The limits of the description's size, in either format. */
const MOST_BYTES = { application: 250_000, all: 375_000 };
const openPath = (path: string) => path.replace(/:(\w+)/g, '{$1}');

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: object;
}

interface Described {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: string[];
  readonly security?: Record<string, string[]>[];
  readonly parameters?: Parameter[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  readonly responses: Record<
    string,
    {
      headers?: Record<string, object>;
      content: Record<string, { schema: { $ref?: string; anyOf?: { $ref: string }[] } }>;
    }
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: { title: string; version: string; description: string };
  readonly servers: { url: string }[];
  readonly security: Record<string, string[]>[];
  readonly tags: { name: string }[];
  readonly components: { securitySchemes: Record<string, { type: string; scheme: string }> };
  readonly paths: Record<string, Record<string, Described>>;
  readonly webhooks: Record<string, Record<string, DescribedEvent>>;
}

interface DescribedEvent {
  readonly operationId: string;
  readonly security: object[];
  readonly requestBody: {
    required: boolean;
    content: { 'application/json': { schema: { required: string[]; properties: Record<string, TSchema> } } };
  };
  readonly responses: Record<string, object>;
}

describe('/openapi.yaml', async () => {
  let turns = 0;
  const turning = setInterval(() => void (turns += 1), 0);
  const answer = await instance.call('GET', '/openapi.yaml?part=all');
  clearInterval(turning);
  const written = Bun.YAML.parse(answer.text) as Document;
  const resolve = <Part>(part: Part): Part => {
    const [, , kind, name] = (part as { $ref?: string }).$ref?.split('/') ?? [];
    if (kind === undefined || name === undefined) return part;
    return (written.components as unknown as Record<string, Record<string, Part>>)[kind]![name]!;
  };
  /** The document with references to parameters, bodies and answers resolved. */
  const document: Document = {
    ...written,
    paths: Object.fromEntries(
      Object.entries(written.paths).map(([path, methods]) => [
        path,
        Object.fromEntries(
          Object.entries(methods).map(([method, { parameters = [], requestBody, responses, ...rest }]) => [
            method,
            {
              ...rest,
              ...(requestBody && { requestBody: resolve(requestBody) }),
              parameters: parameters.map(resolve),
              responses: Object.fromEntries(Object.entries(responses).map(([at, answer]) => [at, resolve(answer)])),
            },
          ]),
        ),
      ]),
    ),
  };
  const at = ({ path, method }: Operation) => document.paths[openPath(path)]?.[method.toLowerCase()];

  test('is YAML of OpenAPI 3.1, version 1.0.0, for the server it was fetched from', () => {
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/yaml; charset=utf-8']);
    expect(document.openapi).toStartWith('3.1.');
    expect(document.info).toMatchObject({ title: 'Gatehouse', version: '1.0.0' });
    expect(document.servers).toMatchObject([{ url: '/' }]);
  });

  test('describes exactly the documented operations', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(documented.map(({ method, path }) => `${method} ${openPath(path)}`).sort());
  });

  test.each(named(documented))('%s: has an id, a summary, a known tag and its security', (_, operation) => {
    const described = at(operation)!;
    expect(described.operationId).toBe(operation.id);
    expect(described.summary).toBe(operation.summary);
    expect(described.tags).toEqual([operation.tag]);
    expect(document.tags.map(({ name }) => name)).toContain(operation.tag);
    // An operation without its own security has the global one.
    const schemes = (described.security ?? document.security).flatMap((entry) => Object.keys(entry));
    expect(schemes.every((name) => name in document.components.securitySchemes)).toBe(true);
    expect(document.security).toBeDefined();
    expect(schemes.length > 0).toBe(operation.access !== 'none');
    if (operation.access === 'key') expect(schemes).toEqual(['apiKey']);
    if (isOfClients(operation.access)) expect(schemes).toEqual(['clientSecret', 'apiKey']);
    if (operation.access === 'token') expect(schemes).toEqual(['sessionToken']);
    if (operation.access === 'session') expect(schemes).toEqual(['sessionToken', 'sessionCookie']);
  });

  test.each(named(documented))('%s: describes its parameters and body', (_, operation) => {
    const described = at(operation)!;
    const parameters = described.parameters ?? [];
    for (const { name, description } of parameters) expect(description?.length, name).toBeGreaterThan(10);
    const names = (place: string) => parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);
    expect(names('path')).toEqual([...operation.path.matchAll(/:(\w+)/g)].map(([, name]) => name!));
    const ofScope = operation.scope === 'workspace' ? ['workspaceId'] : [];
    expect(names('query').sort()).toEqual([...ofScope, ...Object.keys(operation.query?.properties ?? {})].sort());
    expect(described.requestBody !== undefined).toBe((operation.body ?? operation.upload) !== undefined);
    if (described.requestBody) {
      expect(described.requestBody.required).toBe(!operation.isBodyOptional);
      const ofUpload = operation.upload && [...operation.upload.mediaTypes, 'multipart/form-data'];
      const forms = operation.isFormAccepted ? ['application/x-www-form-urlencoded'] : [];
      expect(Object.keys(described.requestBody.content)).toEqual(ofUpload ?? ['application/json', ...forms]);
    }
  });

  test.each(named(documented))('%s: describes its success, and its refusals once for all statuses', (_, operation) => {
    const { responses, description = '' } = at(operation)!;
    const { style, isRedirect, isCreated, isRevalidated } = operation;
    const succeeds = isRedirect ? ['302'] : [isCreated ? '201' : '200', ...(isRevalidated ? ['304'] : [])];
    expect(Object.keys(responses).toSorted()).toEqual([...succeeds, '400', 'default']);
    const { content } = responses['400']!;
    if (style === 'page') expect(Object.keys(content)).toEqual(['text/html']);
    else {
      const { schema } = content['application/json']!;
      const names = (schema.anyOf ?? [schema]).map(({ $ref = '' }) => $ref.split('/').at(-1));
      const flat = { session: ['SessionError'], verify: ['VerifyError', 'VerifyRefusal'], oauth: ['OAuthError'] };
      expect(names).toEqual(
        style === undefined || style === 'envelope' || style === 'flat' ? ['ApiError'] : flat[style],
      );
    }
    if (!isRedirect) expect(responses['default']).toEqual(responses['400']);
    for (const { code, status } of ownRefusals(operation)) expect(description).toContain(`- \`${code}\` (${status}): `);
  });

  test('explains each code where it is: the common ones with the shared response, all others with their operation', () => {
    const { Refused } = (written.components as unknown as { responses: Record<string, { description: string }> })
      .responses;
    for (const operation of documented) {
      const own = ownRefusals(operation).map(({ code }) => code);
      for (const code of errorCodesOf(operation)) {
        const text = own.includes(code) ? at(operation)?.description : Refused?.description;
        expect([operation.id, code, text?.includes(`\`${code}\``)]).toEqual([operation.id, code, true]);
        expect(text).toContain(String(statusIn(operation, code)));
      }
    }
  });

  test('describes the webhook requests: every event type with the schema of its data', () => {
    expect(Object.keys(document.webhooks)).toEqual([...EVENT_TYPES, TEST_EVENT_TYPE]);
    for (const type of [...EVENT_TYPES, TEST_EVENT_TYPE] as const) {
      const methods = document.webhooks[type]!;
      expect(Object.keys(methods)).toEqual(['post']);
      const { requestBody, responses, security } = methods['post']!;
      expect([requestBody.required, security]).toEqual([true, []]);
      expect(Object.keys(responses)).toContain('200');
      const { required, properties } = resolve(requestBody.content['application/json'].schema);
      expect(required).toEqual(['id', 'type', 'createdAt', 'applicationId', 'data']);
      expect(Object.keys(properties)).toEqual(required);
      expect(properties['type']).toEqual({ type: 'string', const: type } as never);
      const declared = type === TEST_EVENT_TYPE ? Type.Object({ webhookId: Type.String() }) : EVENT_SCHEMAS[type];
      const data = resolve(properties['data']) as unknown as { required: string[]; properties: Record<string, object> };
      expect(Object.keys(data.properties)).toEqual(Object.keys(declared.properties));
      expect(data.required).toEqual(declared.required!);
      expect(data.required).toContain(type === TEST_EVENT_TYPE ? 'webhookId' : 'userId');
    }
    const ids = EVENT_TYPES.map((type) => document.webhooks[type]!['post']!.operationId);
    expect(new Set([...ids, ...documented.map(({ id }) => id)]).size).toBe(ids.length + documented.length);
  });

  test('contains only references that resolve', () => {
    const names = [...answer.text.matchAll(/#\/components\/(\w+)\/([\w.-]+)/g)];
    expect(names.length).toBeGreaterThan(100);
    const components = document.components as unknown as Record<string, Record<string, object>>;
    expect(names.filter(([, kind, name]) => !components[kind!]?.[name!]).map(([reference]) => reference)).toEqual([]);
  });

  test('distinguishes its credentials for programs', () => {
    const { apiKey, sessionToken, sessionCookie } = document.components.securitySchemes;
    expect([apiKey, sessionToken]).toMatchObject([{ bearerFormat: 'eak_…' }, { bearerFormat: 'est_…' }]);
    expect(sessionCookie).toMatchObject({ type: 'apiKey', in: 'cookie', name: 'gatehouse' });
    expect(document.components.securitySchemes['clientSecret']).toMatchObject({ type: 'http', scheme: 'basic' });
  });

  test('has no pattern next to an enumeration, which client generators cannot handle', () => {
    const both: object[] = [];
    let enums = 0;
    JSON.stringify(document, (_, node) => {
      if (Array.isArray(node?.enum)) enums += 1;
      if (Array.isArray(node?.enum) && 'pattern' in node) both.push(node);
      return node;
    });
    expect([enums > 50, both]).toEqual([true, []]);
  });

  test.each(named(documented))('%s: describes the headers of limits, waiting and credentials', (_, operation) => {
    const headersAt = (status: number) => Object.keys(at(operation)!.responses[status]?.headers ?? {});
    const ofLimit = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
    if (!operation.isRedirect) {
      const ofTag = operation.isRevalidated ? ['ETag'] : [];
      expect(headersAt(200)).toEqual(ofTag);
      if (operation.isRevalidated) expect(headersAt(304)).toEqual(ofTag);
    }
    const ofRefusals = operation.style === 'page' ? [] : ['WWW-Authenticate', 'Retry-After', ...ofLimit];
    expect(Object.keys(at(operation)!.responses['400']?.headers ?? {})).toEqual(ofRefusals);
  });

  test('is generated in many short steps that yield to the event loop', () => {
    expect(turns).toBeGreaterThan(documented.length / 10);
  });

  test('is the same in JSON and YAML', async () => {
    const { headers, json } = await instance.call('GET', '/openapi.json?part=all');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(json).toEqual(written);
  });

  test('has a verdict of two variants, discriminated by a constant', () => {
    const { schemas } = written.components as unknown as { schemas: Record<string, object> };
    expect(schemas['Verdict']).toEqual({
      oneOf: [{ $ref: '#/components/schemas/TokenAccepted' }, { $ref: '#/components/schemas/TokenRefused' }],
    });
    expect(schemas['TokenAccepted']).toMatchObject({ properties: { success: { const: true } } });
    expect(schemas['TokenRefused']).toMatchObject({ properties: { success: { const: false } } });
  });

  test('states once, for all answers, that those of a limited operation have its limit headers', () => {
    expect(document.info.description).toMatch(/Where calls are limited, every answer has `RateLimit-Limit`/);
  });

  test('defines each record, page, refusal and repeated schema once', () => {
    const inline: string[] = [];
    const seen = new Map<string, number>();
    const count = (part: object) => {
      if (!('$ref' in part)) seen.set(JSON.stringify(part), (seen.get(JSON.stringify(part)) ?? 0) + 1);
    };
    for (const [path, methods] of Object.entries(written.paths))
      for (const { operationId, parameters = [], requestBody, responses } of Object.values(methods)) {
        for (const part of [...parameters, ...(requestBody ? [requestBody] : []), ...Object.values(responses)])
          count(part);
        for (const [status, response] of Object.entries(responses))
          if (status.startsWith('4') && !('$ref' in response)) inline.push(`${operationId} ${status} of ${path}`);
      }
    expect(inline).toEqual([]);
    expect([...seen].filter(([, times]) => times > 1)).toEqual([]);
  });

  test('defines each schema once that bodies and answers repeat', () => {
    const seen = new Map<string, number>();
    const walk = (part: unknown, isSchema: boolean): void => {
      if (typeof part !== 'object' || part === null) return;
      if (isSchema && ('type' in part || 'anyOf' in part) && !('$ref' in part)) {
        const { description: _, default: __, ...own } = part as Record<string, unknown>;
        const text = JSON.stringify(own);
        seen.set(text, (seen.get(text) ?? 0) + 1);
      }
      for (const [key, value] of Object.entries(part)) walk(value, key !== 'properties' && key !== 'examples');
    };
    walk(written, false);
    const wasted = (text: string, times: number) => (times - 1) * text.length - times * 45;
    expect([...seen].filter(([text, times]) => wasted(text, times) >= 100)).toEqual([]);
  });

  test('quotes every time, since YAML 1.1 reads an unquoted one as a date', () => {
    expect(answer.text).toMatch(/"\d{4}-\d\d-\d\dT/);
    expect(answer.text).not.toMatch(/(?:[:,-] |\[)\d{4}-\d\d-\d\dT/);
  });

  test('contains no internal text and no secret', () => {
    // A warning has a property of that name.
    expect(answer.text).not.toMatch(/\bremedy: [^{]/);
    expect(answer.text).not.toMatch(/\b(eak|est|egs|ecs|whsec)_[0-9A-Za-z]{20,}/);
  });
});

describe('the description of what applications build on', async () => {
  const [yaml, json] = await Promise.all(['yaml', 'json'].map((type) => instance.call('GET', `/openapi.${type}`)));
  const { paths, info } = json!.json as Document;

  test.each(['application', 'all'] as const)('the part %s stays small, in either format', async (part) => {
    for (const type of ['yaml', 'json']) {
      const { text } = await instance.call('GET', `/openapi.${type}${part === 'all' ? '?part=all' : ''}`);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MOST_BYTES[part]);
    }
  });

  test('has all operations but those of the account page, the console and the command line, and says where they are', () => {
    const described = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(described.toSorted()).toEqual(
      operationsInPart('application', documented)
        .map(({ id }) => id)
        .toSorted(),
    );
    const left = documented.filter(({ id }) => !described.includes(id)).map(({ path }) => path);
    expect(
      left.every((path) =>
        /^\/api\/(account|workspaces?|setup)|mail-lines|sign-in-trial|apply$|schema|(stats|calls|performance)$/.test(
          path,
        ),
      ),
    ).toBe(true);
    expect(info.description).toContain('`?part=all`');
  });

  test('is the same in JSON and YAML, and refuses a part that there is not', async () => {
    expect(Bun.YAML.parse(yaml!.text)).toEqual(json!.json);
    const { status, json: refusal } = await instance.call('GET', '/openapi.json?part=most');
    expect([status, refusal.error]).toEqual([400, 'invalid_request']);
  });

  test.each(named(operationsInPart('application', documented)))(
    '%s: names its own error codes with their status',
    (_, operation) => {
      const { description = '' } = paths[openPath(operation.path)]![operation.method.toLowerCase()]!;
      for (const { code, status } of ownRefusals(operation))
        expect(description).toMatch(new RegExp(`Errors: .*\\b${status} [^;]*\`${code}\``));
    },
  );
});
