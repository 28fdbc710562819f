import { Route, Switch } from 'wouter';
import { Editor } from './Editor';
import { List } from './List';
import { View } from './View';
import './guidelines.css';

// Everything below /guidelines.
export default function Guidelines() {
  return (
    <Switch>
      <Route path="/guidelines/drafts/:id">{({ id }) => <Editor id={id} />}</Route>
      <Route path="/guidelines/:key">{({ key }) => <View name={decodeURIComponent(key)} />}</Route>
      <Route component={List} />
    </Switch>
  );
}
