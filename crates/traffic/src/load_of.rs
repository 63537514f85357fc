//! [`LoadOf`]: the capacity of which a load is a fraction.

use weft_units::words;

words! {
    /// The capacity that a load is a fraction of.
    #[derive(Default)]
    pub enum LoadOf {
        /// The sum of the rates of all links from racks into the fabric, in one direction. Only flows that
        /// leave their rack count.
        #[default]
        FabricUplinks = "fabric-uplinks",
        /// The sum of the rates of all host links, in one direction.
        HostLinks = "host-links",
    }
}
