import { hydratePage } from '../browser/hydrate.tsx';
import { SignInPage } from './page.tsx';

hydratePage(SignInPage);
