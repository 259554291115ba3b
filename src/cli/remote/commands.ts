/** Lists every command that uses a server, in the order of the help. */
import { login, logout, whoami } from './account.ts';
import { ACTIVITY } from './activity.ts';
import { apply } from './apply.ts';
import { APPS } from './apps.ts';
import { exportCommand } from './export.ts';
import { GATE } from './gate.ts';
import { KEYS } from './keys.ts';
import { OPENID } from './openid.ts';
import type { RemoteCommand } from './remote-command.ts';
import { GRANTS_COMMANDS } from './grants.ts';
import { USERS } from './users.ts';
import { WEBHOOKS } from './webhooks.ts';

export const REMOTE: readonly RemoteCommand[] = [
  login,
  logout,
  whoami,
  ...APPS,
  ...USERS,
  ...GRANTS_COMMANDS,
  ...KEYS,
  ...GATE,
  ...WEBHOOKS,
  ...OPENID,
  ...ACTIVITY,
  apply,
  exportCommand,
];
