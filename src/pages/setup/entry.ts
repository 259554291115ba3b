import { hydratePage } from '../browser/hydrate.tsx';
import { SetupPage } from './page.tsx';

hydratePage(SetupPage);
