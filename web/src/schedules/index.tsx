import { Route, Switch } from 'wouter';
import { Edit, New } from './Edit';
import { List } from './List';
import { One } from './One';
import './schedules.css';

// Everything below /schedules.
export default function Schedules() {
  return (
    <Switch>
      <Route path="/schedules/new" component={New} />
      <Route path="/schedules/:id/edit">{({ id }) => <Edit id={id} />}</Route>
      <Route path="/schedules/:id">{({ id }) => <One id={id} />}</Route>
      <Route component={List} />
    </Switch>
  );
}
