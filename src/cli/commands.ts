/** Lists every command, in the order of the help. */
import type { Command } from './arguments.ts';
import { backup } from './backup.ts';
import { backupVerify } from './backup-verify.ts';
import { completionCommand } from './completion.ts';
import { doctor } from './doctor.ts';
import { healthcheck } from './healthcheck.ts';
import { key } from './key.ts';
import { move } from './move.ts';
import { openapi } from './openapi.ts';
import { OUTBOX } from './outbox.ts';
import { print } from './print.ts';
import { REMOTE } from './remote/commands.ts';
import { restore } from './restore.ts';
import { serve } from './serve.ts';
import { setupLink } from './setup-link.ts';
import { version } from './version.ts';

export const COMMANDS: readonly Command[] = [
  serve,
  setupLink,
  doctor,
  healthcheck,
  ...OUTBOX,
  backup,
  backupVerify,
  restore,
  move,
  key,
  ...REMOTE,
  openapi,
  print,
  completionCommand(() => COMMANDS),
  version,
];
