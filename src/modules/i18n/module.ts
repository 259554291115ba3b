/** The message catalogues, for applications that show the same texts on their own pages. */
import type { Module } from '../module.ts';
import { i18nRoutes } from './routes.ts';

export function i18nModule(): Module {
  return { operations: i18nRoutes() };
}
