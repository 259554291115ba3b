/** An instance with a person of every role, for attacks that walk all operations. */
import type { Operation } from '@/http/operation.ts';
import { openApiDocument } from '@/modules/description/openapi.ts';
import * as given from '../support/given.ts';
import {
  type Answer,
  type CallOptions,
  createInstance,
  type Instance,
  type InstanceOptions,
} from '../support/instance.ts';

export interface AttackWorld {
  readonly instance: Instance;
  readonly applicationId: string;
  readonly clientId: string;
  /** Ids of existing resources, by the name of the path parameter. */
  readonly ids: Readonly<Record<string, string>>;
  /** Returns a credential that the operation accepts. */
  tokenFor(operation: Operation): Promise<string | undefined>;
}

/** Raises all limits, so that none answers first. */
const NO_LIMITS = {
  GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '1000000',
  GATEHOUSE_LIMIT_IMAGES_PER_PERSON: '1000000',
  GATEHOUSE_LIMIT_EXPORTS_PER_PERSON: '1000000',
};

export async function createAttackWorld(options: InstanceOptions = {}): Promise<AttackWorld> {
  const instance = await createInstance({ ...options, environment: { ...NO_LIMITS, ...options.environment } });
  const { id, clientId } = await instance.createApplication({ name: 'Shop' });
  const manage = async (method: string, path: string, body?: unknown) =>
    (await instance.call(method, `/api/applications/${id}${path}`, { token: instance.workspaceKey, body })).json.data;
  const person = await instance.signIn(clientId, 'target@example.com');
  const member = await given.consoleMember(instance, 'member@example.com', 'member');
  const key = await instance.createKey(id);
  const [passkeyId = ''] = await given.passkeys(instance, person.userId);
  const interests = await manage('POST', '/beta-interests', { emails: ['friend@example.com'] });
  const webhook = await manage('POST', '/webhooks', { url: 'https://hooks.example/in', events: ['user.banned'] });
  const sessions = await manage('GET', `/users/${person.userId}/sessions`);
  const ids = {
    id,
    keyId: key.id,
    userId: person.userId,
    sessionId: sessions.items[0].id,
    passkeyId,
    identityId: await given.identity(instance, person.userId),
    memberId: member.memberId,
    interestId: interests.items[0].id,
    webhookId: webhook.id,
    deliveryId: 'dlv_01h455vb4pex5vsknk084sn02q',
    roleId: await given.grant(instance, 'roles', id, 'chef'),
    scopeId: await given.grant(instance, 'scopes', id, 'cook'),
    membershipId: await given.grant(instance, 'memberships', id, 'kitchen'),
    appSlug: 'shop',
    file: 'avatar-128.webp',
  };

  const sessionTokens = new Map<string, string>();
  /** Signs in again if an attack has signed the person out. */
  async function session(client: string, email: string): Promise<string> {
    const known = sessionTokens.get(email);
    if (known !== undefined && (await instance.call('GET', '/api/account/session', { token: known })).status === 200)
      return known;
    instance.clock.advance(16 * 60_000);
    const { token } = await instance.signIn(client, email);
    sessionTokens.set(email, token);
    return token;
  }

  return {
    instance,
    applicationId: id,
    clientId,
    ids,
    async tokenFor({ access, consoleRole }) {
      if (access === 'none') return undefined;
      if (['session', 'person', 'token', 'holder'].includes(access)) return session(clientId, 'ada@example.com');
      return consoleRole ? session('console', 'owner@example.com') : instance.workspaceKey;
    },
  };
}

/** Returns the path of an operation with ids in place of its parameters. */
export function addressOf({ path }: Operation, ids: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'nothing'));
}

let calls = 0;

/** Sends one request from a client of its own. */
export function send(
  { instance }: Pick<AttackWorld, 'instance'>,
  method: string,
  address: string,
  options?: CallOptions,
): Promise<Answer> {
  calls += 1;
  instance.peer = `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`;
  return instance.call(method, address, options);
}

/** A JSON Schema, as in the description. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly examples?: readonly unknown[];
}

export interface DescribedOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>>;
}

export interface Description {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  at(operation: Operation): DescribedOperation;
  /** Returns the referenced schema, or the schema itself. */
  resolve(schema: Schema): Schema;
}

export async function describeApi({ app }: Instance): Promise<Description> {
  const document = (await openApiDocument(app.operations, 'http://localhost:8080', 'all')) as {
    readonly components: Description['components'];
    readonly paths: Record<string, Record<string, DescribedOperation>>;
  };
  const { components } = document;
  const resolve = <Part>(part: Part): Part => {
    const [, , kind, name] = (part as { $ref?: string }).$ref?.split('/') ?? [];
    if (kind === undefined || name === undefined) return part;
    const found = (components as unknown as Record<string, Record<string, Part>>)[kind]?.[name];
    if (found === undefined) throw new Error(`${kind} ${name} is not described`);
    return found;
  };
  return {
    components,
    at({ method, path, id }) {
      const found = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      if (!found) throw new Error(`${id} is not described`);
      const { parameters = [], requestBody, responses, ...rest } = found;
      const answers = Object.entries(responses).map(([status, answer]) => [status, resolve(answer)]);
      return {
        ...rest,
        parameters: parameters.map(resolve),
        ...(requestBody && { requestBody: resolve(requestBody) }),
        responses: Object.fromEntries(answers),
      };
    },
    resolve,
  };
}
