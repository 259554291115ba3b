/** The texts that people read, for applications that show some of them on pages of their own. */
import type { Module } from '../module.ts';
import { i18nRoutes } from './routes.ts';

export function i18nModule(): Module {
  return { operations: i18nRoutes() };
}
