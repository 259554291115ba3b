/** Resolves the path parameters of operations from what people type: an address, a slug or an id. */
import { StartupError } from '../../core/startup-error.ts';
import { type Operand, UsageError } from '../arguments.ts';
import { APP_OPTION, findApp, findUserId, type ManagedApp } from './find.ts';
import type { RemoteCall } from './remote-command.ts';

export interface Resolved {
  readonly path: Readonly<Record<string, string>>;
  /** Name of the last parameter, as prompts and answers show it. */
  readonly label: string;
  /** Null for an operation on the workspace. */
  readonly application: ManagedApp | null;
}

/** A resource as its parameter, and as people name it. */
interface Found {
  readonly id: string;
  readonly label: string;
}

interface PathOperand extends Operand {
  /** Takes the text as the id by default. */
  find?(call: RemoteCall, application: ManagedApp, typed: string): Promise<Found>;
}

export const USER_OPERAND: Operand = { name: 'USER', meaning: 'Id (usr_…) or e-mail address.' };

const PATH_OPERANDS: Readonly<Record<string, PathOperand>> = {
  userId: {
    ...USER_OPERAND,
    find: async ({ client }, application, typed) => ({
      id: await findUserId(client, application, typed),
      label: typed,
    }),
  },
  interestId: { name: 'WHO', meaning: 'E-mail address, or id (bet_…).', find: findInterest },
  roleId: slugOperand('role', '/api/applications/{id}/roles'),
  scopeId: slugOperand('scope', '/api/applications/{id}/scopes'),
  membershipId: slugOperand('group', '/api/applications/{id}/memberships'),
  keyId: { name: 'KEY', meaning: 'Id (key_…).' },
  webhookId: { name: 'WEBHOOK', meaning: 'Id (whk_…).' },
  deliveryId: { name: 'DELIVERY', meaning: 'Id (dlv_…).' },
};

export const APP_OPERAND: Operand = { name: 'APP', meaning: APP_OPTION.meaning, isOptional: true };

export function operandsOf(inPath: readonly string[], isAppOperand: boolean): Operand[] {
  return inPath.flatMap((parameter) => {
    if (parameter === 'id') return isAppOperand ? APP_OPERAND : [];
    const { name, meaning } = PATH_OPERANDS[parameter] ?? { name: parameter, meaning: '' };
    return { name, meaning };
  });
}

/** @throws {UsageError} @throws {StartupError} when something named does not exist. */
export async function resolvePath(
  call: RemoteCall,
  inPath: readonly string[],
  isAppOperand: boolean,
): Promise<Resolved> {
  const path: Record<string, string> = {};
  let label = '';
  let application: ManagedApp | null = null;
  let at = 0;
  for (const parameter of inPath) {
    if (parameter === 'id') {
      application = isAppOperand ? await findApp(call.client, call.operands[at++], '') : await call.application();
      path['id'] = application.id;
      label = application.slug;
      continue;
    }
    const typed = call.operands[at++] ?? '';
    const find = PATH_OPERANDS[parameter]?.find;
    const found: Found = find && application ? await find(call, application, typed) : { id: typed, label: typed };
    path[parameter] = found.id;
    label = found.label;
  }
  return { path, label, application };
}

type SlugList = `/api/applications/{id}/${'roles' | 'scopes' | 'memberships'}`;

function slugOperand(kind: string, list: SlugList): PathOperand {
  return {
    name: 'SLUG',
    meaning: `The ${kind}’s slug.`,
    async find({ client }, { id }, typed) {
      for await (const item of client.all(list, { path: { id } }))
        if (item.slug === typed || item.id === typed) return { id: item.id, label: item.slug };
      throw new StartupError(`There is no ${kind} "${typed}". See: gatehouse ${kind}s list`);
    },
  };
}

async function findInterest({ client }: RemoteCall, { id }: ManagedApp, typed: string): Promise<Found> {
  if (typed.startsWith('bet_')) return { id: typed, label: typed };
  if (!typed.includes('@')) throw new UsageError(`"${typed}" is neither an e-mail address nor an id (bet_…).`);
  const [row] = (await client.get('/api/applications/{id}/beta-interests', { path: { id }, query: { email: typed } }))
    .items;
  if (row) return { id: row.id, label: typed };
  throw new StartupError(`${typed} is not on the list. Add them: gatehouse gate invite ${typed}`);
}
