//! [`AnySwitch`]: a switch of any scheme behind one type, so that the tests' engines are compiled once and not once per
//! scheme.

use weft_switching::{Actions, Context, Header, Stream, Switch};
use weft_units::{PortId, Time};

/// The methods of a [`Switch`] without a central controller.
pub trait AnySwitch: Send {
    fn receive(&mut self, ctx: &mut dyn Context, ingress: PortId, header: &Header, out: &mut Actions);
    fn port_changed(&mut self, ctx: &mut dyn Context, port: PortId, up: bool, out: &mut Actions);
    fn next_deadline(&self) -> Time;
    fn on_deadline(&mut self, ctx: &mut dyn Context, out: &mut Actions);
}

struct Any<'a>(&'a mut dyn Context);

impl Context for Any<'_> {
    fn now(&self) -> Time {
        self.0.now()
    }

    fn queue_bytes(&self, port: PortId) -> u64 {
        self.0.queue_bytes(port)
    }

    fn random(&mut self) -> &mut Stream {
        self.0.random()
    }
}

impl<S: Switch> AnySwitch for S {
    fn receive(&mut self, ctx: &mut dyn Context, ingress: PortId, header: &Header, out: &mut Actions) {
        Switch::receive(self, &mut Any(ctx), ingress, header, out);
    }

    fn port_changed(&mut self, ctx: &mut dyn Context, port: PortId, up: bool, out: &mut Actions) {
        Switch::port_changed(self, &mut Any(ctx), port, up, out);
    }

    fn next_deadline(&self) -> Time {
        Switch::next_deadline(self)
    }

    fn on_deadline(&mut self, ctx: &mut dyn Context, out: &mut Actions) {
        Switch::on_deadline(self, &mut Any(ctx), out);
    }
}
