import type { Module, ModuleContext } from '../module.ts';
import { type CodeChallenges, codeChallengeService } from './code-challenge.ts';

export function codesModule(context: ModuleContext): Module & { readonly service: CodeChallenges } {
  return { service: codeChallengeService(context) };
}
