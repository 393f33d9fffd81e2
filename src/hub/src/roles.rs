//! The roles that methods require, from the protocol files. Also part of the build script.

use protox::prost_reflect::{DescriptorPool, Value};

/// Path and role of each method of the services in packages that `wanted` selects; the role is 0 if
/// the method names none.
pub fn methods(pool: &DescriptorPool, wanted: impl Fn(&str) -> bool) -> Result<Vec<(String, i32)>, String> {
    let option = pool
        .get_extension_by_name("kairos.hub.v1.role")
        .ok_or("the protocol has no option `role`")?;
    let mut found = Vec::new();
    for service in pool.services().filter(|service| wanted(service.package_name())) {
        for method in service.methods() {
            let path = format!("/{}/{}", service.full_name(), method.name());
            let role = match *method.options().get_extension(&option) {
                Value::EnumNumber(role) => role,
                _ => 0,
            };
            found.push((path, role));
        }
    }
    Ok(found)
}
