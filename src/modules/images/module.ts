import type { Module, ModuleContext } from '../module.ts';
import { applicationImageRoutes } from './application-routes.ts';
import { applicationImageService } from './application-service.ts';
import { pictureQueue } from './queue.ts';
import { imageRoutes } from './routes.ts';
import { imageService } from './service.ts';

export function imagesModule(context: ModuleContext): Module {
  const inTurn = pictureQueue();
  return {
    operations: [
      ...imageRoutes(imageService({ ...context, inTurn })),
      ...applicationImageRoutes(applicationImageService({ ...context, inTurn })),
    ],
  };
}
