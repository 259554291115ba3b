/** People's pictures: uploaded, cut, and served. */
import type { Module, World } from '../module.ts';
import { imageRoutes } from './routes.ts';
import { imageService } from './service.ts';

export function imagesModule(world: World): Module {
  return { operations: imageRoutes(imageService(world)) };
}
