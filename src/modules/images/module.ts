import type { Module, ModuleContext } from '../module.ts';
import { imageRoutes } from './routes.ts';
import { imageService } from './service.ts';

export function imagesModule(context: ModuleContext): Module {
  return { operations: imageRoutes(imageService(context)) };
}
