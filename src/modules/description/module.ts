import type { Operation } from '../../http/operation.ts';
import type { Module, ModuleContext } from '../module.ts';
import { descriptionRoutes } from './routes.ts';

/** @param operations returns all served operations, these included. */
export function descriptionModule(
  { baseUrl, limits }: ModuleContext,
  { operations }: { operations: () => readonly Operation[] },
): Module {
  return { operations: descriptionRoutes({ operations, baseUrl, limits }) };
}
