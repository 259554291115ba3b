/** Every command, in the order of the help. */
import type { Command } from './arguments.ts';
import { key } from './key.ts';
import { openapi } from './openapi.ts';
import { print } from './print.ts';
import { serve } from './serve.ts';
import { setupLink } from './setup-link.ts';
import { version } from './version.ts';

export const COMMANDS: readonly Command[] = [serve, setupLink, key, openapi, print, version];
