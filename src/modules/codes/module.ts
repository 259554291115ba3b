/** Mailed codes: issued and redeemed for other modules. */
import type { Module, World } from '../module.ts';
import { type CodeChallenges, codeChallengeService } from './code-challenge.ts';

export function codesModule(world: World): Module & { readonly service: CodeChallenges } {
  return { service: codeChallengeService(world) };
}
